// SPDX-License-Identifier: Apache-2.0
// Public faults of compilers and runtimes, each as a whole network with numbers worked out by hand
// (docs/faults.md lists all entries and where else they are tested). The reference executor and the
// generated C, under sanitizers and between guard bytes, must give these numbers; what cannot be
// compiled is refused with a message that says why.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "driver/compile.h"
#include "emit/symbols.h"
#include "exec/reference.h"
#include "tests/guarantee/many_models.h"
#include "tests/support/tflite_writer.h"
#include "toolchain/board.h"
#include "toolchain/emulate.h"

namespace ingot::testing {
namespace {

struct FaultCase {
  std::string name;  // begins with the entry's id; of the model in C, too
  std::vector<uint8_t> file;
  toolchain::Tensors inputs;
  toolchain::Tensors outputs;
};

template <class T>
std::vector<uint8_t> bytes_of(const std::vector<T>& numbers) {
  const Bytes bytes = Bytes::of(numbers);
  return {bytes.view().begin(), bytes.view().end()};
}
std::vector<uint8_t> int8s(const std::vector<int8_t>& numbers) { return bytes_of(numbers); }
std::vector<uint8_t> floats(const std::vector<float>& numbers) { return bytes_of(numbers); }

// int8 on the scale 1 with zero point 0: the integers are the real numbers.
const Quantization kPlain = per_tensor(1, 0);
TensorType plain(const Shape& shape) { return {DType::kInt8, shape, kPlain}; }
TensorType real(const Shape& shape) { return {DType::kFloat32, shape, std::nullopt}; }

FaultCase unused_result() {
  TfliteWriter w;
  const int64_t x = w.input("x", plain({2}));
  w.relu6("nobody", x, kPlain);
  w.output(w.relu("y", x, kPlain));
  return {"G01_unused_result", w.bytes(), {int8s({-3, 9})}, {int8s({0, 9})}};
}

FaultCase input_to_two_outputs() {
  TfliteWriter w;
  const int64_t x = w.input("x", plain({3}));
  w.output(x);
  w.output(x);
  const std::vector<uint8_t> bytes = int8s({-1, 0, 7});
  return {"G02_input_is_output", w.bytes(), {bytes}, {bytes, bytes}};
}

// The harness calls twice without filling the input again, and sees whether it was changed.
FaultCase input_stays() {
  TfliteWriter w;
  const int64_t x = w.input("x", plain({1, 2}));
  w.output(w.relu("in_place", x, kPlain));
  const int64_t view = w.reshape("view", x, {2});
  w.output(w.add("sum", view, view, kPlain));
  return {"G04_input_stays", w.bytes(), {int8s({-4, 100})}, {int8s({0, 100}), int8s({-8, 127})}};
}

FaultCase inner_output() {
  TfliteWriter w;
  const int64_t x = w.input("x", plain({1, 1, 1, 2}));
  const int64_t filter =
      w.constant("filter", plain({2, 1, 1, 2}), std::vector<int8_t>{1, 1, 1, -1});
  const int64_t conv = w.output(w.conv_2d("conv", x, filter, kAbsent, {}, kPlain));
  const int64_t positive = w.relu("positive", conv, kPlain);
  w.output(w.add("sum", positive, conv, kPlain));
  return {"G05_inner_output", w.bytes(), {int8s({2, 5})}, {int8s({7, -3}), int8s({14, -3})}};
}

FaultCase no_names() {
  TfliteWriter w;
  const int64_t x = w.input("", plain({2}));
  const int64_t a = w.relu("", x, kPlain);
  const int64_t b = w.add("", a, x, kPlain);
  w.output(w.sub("", b, a, kPlain));
  w.output(a);
  return {"G08_no_names", w.bytes(), {int8s({-2, 3})}, {int8s({-2, 3}), int8s({0, 3})}};
}

// One filter as [O,H,W,I] of a convolution and as [1,H,W,O] of a depthwise one.
FaultCase one_filter_two_layouts() {
  TfliteWriter w;
  const int64_t x = w.input("x", plain({1, 2, 1, 2}));
  const int64_t filter = w.constant("filter", plain({1, 2, 1, 2}), std::vector<int8_t>{1, 2, 3, 5});
  const Window valid{.padding = Padding::VALID};
  w.output(w.conv_2d("conv", x, filter, kAbsent, valid, kPlain));
  w.output(w.depthwise_conv_2d("depthwise", x, filter, kAbsent, valid, kPlain));
  return {"G11_one_filter", w.bytes(), {int8s({1, 2, 3, 4})}, {int8s({34}), int8s({10, 24})}};
}

// The same bytes under two scales.
FaultCase one_buffer_two_scales() {
  TfliteWriter w;
  const int64_t x = w.input("x", plain({1, 2}));
  const int64_t one = w.constant("one", plain({1, 2}), std::vector<int8_t>{3, 5});
  format::TensorT shared = w.tensor_at(one);
  shared.name = "half";
  shared.quantization->scale = {0.5F};
  const int64_t half = w.tensor(std::move(shared));
  w.output(w.fully_connected("whole", x, one, kAbsent, kPlain));
  w.output(w.fully_connected("halved", x, half, kAbsent, kPlain));
  return {"G11_one_buffer", w.bytes(), {int8s({2, 4})}, {int8s({26}), int8s({13})}};
}

FaultCase nothing() {
  TfliteWriter w;
  w.output(w.relu("y", w.input("x", plain({0, 3})), kPlain));
  w.output(w.relu("z", w.input("some", plain({1})), kPlain));
  return {"G14_empty_tensors", w.bytes(), {{}, int8s({-5})}, {{}, int8s({0})}};
}

FaultCase scalars() {
  TfliteWriter w;
  const int64_t x = w.input("x", plain({}));
  const int64_t z = w.input("z", plain({1}));
  const int64_t three = w.constant("three", plain({}), std::vector<int8_t>{3});
  w.output(w.add("sum", x, three, kPlain));
  w.output(w.mul("product", x, z, kPlain));
  return {"G15_scalars", w.bytes(), {int8s({5}), int8s({-6})}, {int8s({8}), int8s({-30})}};
}

FaultCase equal_operators() {
  TfliteWriter w;
  const int64_t x = w.input("x", plain({2}));
  w.output(w.relu("y", x, kPlain));
  w.output(w.relu("z", x, kPlain));
  return {"G18_equal_operators", w.bytes(), {int8s({-1, 1})}, {int8s({0, 1}), int8s({0, 1})}};
}

FaultCase constants_only() {
  TfliteWriter w;
  const int64_t x = w.input("x", plain({1}));
  const int64_t a = w.constant("a", plain({2}), std::vector<int8_t>{100, -7});
  const int64_t sum = w.output(w.add("sum", a, a, kPlain));
  w.output(w.sub("difference", x, sum, kPlain));
  return {"E18_constants_only", w.bytes(), {int8s({1})}, {int8s({127, -14}), int8s({-126, 15})}};
}

FaultCase far_logits() {
  TfliteWriter w;
  w.output(w.logistic("y", w.input("x", real({3}))));
  return {"E15_far_logits", w.bytes(), {floats({-1000, 0, 1000})}, {floats({0, 0.5F, 1})}};
}

FaultCase out_of_range() {
  TfliteWriter w;
  w.output(w.quantize("y", w.input("x", real({6})), DType::kInt8, kPlain));
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  return {"E16_out_of_range",
          w.bytes(),
          {floats({std::numeric_limits<float>::quiet_NaN(), kInfinity, -kInfinity, 300, -1, 0.5F})},
          {int8s({0, 127, -128, 127, -1, 1})}};
}

// 0x3c00, 0xc000, 0x0001: 1, -2, and the least there is.
FaultCase half_precision_weights() {
  TfliteWriter w;
  const int64_t x = w.input("x", real({1, 3}));
  const TensorType half{DType::kFloat16, {1, 3}, std::nullopt};
  const int64_t stored = w.constant("stored", half, std::vector<uint16_t>{0x3c00, 0xc000, 0x0001});
  const int64_t weights = w.tensor("weights", real({1, 3}));
  w.op(BuiltinOperator::DEQUANTIZE, {stored}, {weights});
  w.output(w.fully_connected("y", x, weights, kAbsent, std::nullopt));
  return {"Q15_half_precision", w.bytes(), {floats({5, 2, 16777216})}, {floats({2})}};
}

FaultCase very_negative() {
  TfliteWriter w;
  const int64_t x = w.input("x", real({1, 2, 2, 1}));
  w.output(w.max_pool_2d("most", x, {.filter_h = 2, .filter_w = 2}));
  const int64_t z = w.input("z", {DType::kInt8, {1, 2}, per_tensor(1000, 127)});
  w.output(w.softmax("share", z));
  return {"X14_very_negative",
          w.bytes(),
          {floats({-3e38F, -2e38F, -3e38F, -2.5e38F}), int8s({-128, -128})},
          {floats({-2e38F}), int8s({0, 0})}};
}

std::vector<FaultCase> fault_cases() {
  return {unused_result(), input_to_two_outputs(),   input_stays(),           inner_output(),
          no_names(),      one_filter_two_layouts(), one_buffer_two_scales(), nothing(),
          scalars(),       equal_operators(),        constants_only(),        far_logits(),
          out_of_range(),  half_precision_weights(), very_negative()};
}

TEST(Faults, AreNotThoseOfTheReferenceExecutor) {
  for (const FaultCase& row : fault_cases()) {
    const Result<ImportedModel> model = read_model(row.file, {.name = "model"});
    ASSERT_TRUE(model.has_value()) << row.name << ": " << model.error().front().what;
    EXPECT_EQ(ReferenceExecutor(model->graph, Rounding::kDouble).run(row.inputs), row.outputs)
        << row.name;
  }
}

struct Flags {
  const char* name;
  std::vector<std::string> flags;
};
std::ostream& operator<<(std::ostream& stream, const Flags& flags) { return stream << flags.name; }
// X12: char may be signed or not. X14: -ffast-math.
const Flags kFlags[] = {{"unsigned_char",
                         {"-std=c99", "-O1", "-fsanitize=address,undefined",
                          "-fno-sanitize-recover=all", "-funsigned-char"}},
                        {"signed_char", {"-O2", "-fsigned-char"}},
                        {"fast_math", {"-O2", "-ffast-math"}}};

// G04 and A01 are the harness's: an arena of exactly the stated size, guard bytes around it and
// every other buffer, inputs that must be as before.
class FaultsInC : public ::testing::TestWithParam<Flags> {};

TEST_P(FaultsInC, AreNotThoseOfTheGeneratedCode) {
  const toolchain::Board& board = *toolchain::find_board("c99");
  const std::vector<std::string> missing = toolchain::missing_programs(board);
  if (!missing.empty()) GTEST_SKIP() << "skipped: " << missing.front() << " is not installed";
  const bool fast_math = GetParam().flags.back() == "-ffast-math";
  std::vector<ModelRun> runs;
  for (const FaultCase& row : fault_cases()) {
    // Fast math promises nothing of what is not a number.
    if (fast_math && row.name.starts_with("E16")) continue;
    const Result<Compiled> compiled = compile(row.file, {.name = row.name});
    ASSERT_TRUE(compiled.has_value()) << row.name << ": " << compiled.error().front().what;
    runs.push_back({compiled->interface, compiled->files, {{row.inputs, row.outputs}}});
  }
  toolchain::BuildOptions options;
  options.flags = GetParam().flags;
  for (const ModelRun& run : runs) {
    if (!fast_math) break;
    options.flags.push_back("-D" + upper_case(run.model.name) + "_ALLOW_FAST_MATH");
  }
  const Result<toolchain::Execution> execution =
      toolchain::build_and_run(board, many_models(runs), options);
  ASSERT_TRUE(execution.has_value()) << execution.error().front().what
                                     << ::testing::PrintToString(execution.error().front().notes);
  EXPECT_EQ(execution->fault, "");
  EXPECT_THAT(execution->console,
              ::testing::HasSubstr(fmt::format("{} models are right", runs.size())));
}

INSTANTIATE_TEST_SUITE_P(Builds, FaultsInC, ::testing::ValuesIn(kFlags),
                         [](const auto& instance) { return instance.param.name; });

struct Refusal {
  const char* name;
  std::vector<uint8_t> file;
  const char* what;  // part of the message
};

// Int16 activations on int8 weights, with the bias in either width.
std::vector<uint8_t> wide_activations(DType bias) {
  TfliteWriter w;
  const Quantization q = per_tensor(0.01F, 0);
  const int64_t x = w.input("x", {DType::kInt16, {1, 2}, q});
  const int64_t weights = w.constant("w", plain({1, 2}), std::vector<int8_t>{1, 2});
  const TensorType type{bias, {1}, q};
  const int64_t b = bias == DType::kInt64 ? w.constant("b", type, std::vector<int64_t>{1})
                                          : w.constant("b", type, std::vector<int32_t>{1});
  w.output(w.fully_connected("y", x, weights, b, q));
  return w.bytes();
}

std::vector<uint8_t> unsigned_weights() {
  TfliteWriter w;
  const int64_t weights =
      w.constant("w", {DType::kUInt8, {1, 2}, per_tensor(0.5F, 128)}, std::vector<uint8_t>{1, 2});
  w.output(w.fully_connected("y", w.input("x", real({1, 2})), weights, kAbsent, std::nullopt));
  return w.bytes();
}

std::vector<uint8_t> logistic_of_scale(float scale) {
  TfliteWriter w;
  const int64_t y = w.tensor("y", {DType::kInt8, {2}, per_tensor(scale, -128)});
  w.op(BuiltinOperator::LOGISTIC, {w.input("x", plain({2}))}, {w.output(y)});
  return w.bytes();
}

std::vector<uint8_t> softmax_without_options() {
  TfliteWriter w;
  w.output(w.softmax("y", w.input("x", plain({2}))));
  w.last_operator().builtin_options.Reset();
  return w.bytes();
}

std::vector<uint8_t> pool_of_other_scale() {
  TfliteWriter w;
  const int64_t x = w.input("x", {DType::kInt8, {1, 2, 2, 1}, per_tensor(0.5F, 0)});
  const int64_t y = w.average_pool_2d("y", x, {.filter_h = 2, .filter_w = 2});
  w.tensor_at(y).quantization->scale = {0.25F};
  w.output(y);
  return w.bytes();
}

std::vector<uint8_t> five_channels_in_groups_of_two() {
  TfliteWriter w;
  const int64_t x = w.input("x", plain({1, 1, 1, 5}));
  const int64_t filter = w.constant("f", plain({4, 1, 1, 2}), std::vector<int8_t>(8, 1));
  w.output(w.conv_2d("y", x, filter, kAbsent, {}, kPlain));
  return w.bytes();
}

TEST(Faults, AreRefusedByNameWhereTheyCannotBeCompiled) {
  const Refusal rows[] = {
      {"C09 channels in groups", five_channels_in_groups_of_two(), "no multiple of the filter's 2"},
      {"P04 pool of two scales", pool_of_other_scale(), "equal scales"},
      {"Q05 int16 with int32 bias", wide_activations(DType::kInt32), "int16"},
      {"Q05 int16 with int64 bias", wide_activations(DType::kInt64), "int16"},
      {"Q16 float with uint8 weights", unsigned_weights(), "the weight tensor uint8"},
      {"S03 softmax without options", softmax_without_options(), "beta is 0"},
      {"S07 logistic on another scale", logistic_of_scale(1.0F / 200), "1/256"},
  };
  for (const Refusal& row : rows) {
    const Result<Compiled> compiled = compile(row.file, {.name = "model"});
    ASSERT_FALSE(compiled.has_value()) << row.name;
    const Diagnostic& first = compiled.error().front();
    EXPECT_THAT(first.what, ::testing::HasSubstr(row.what)) << row.name;
    EXPECT_THAT(first.where, ::testing::HasSubstr("\"y\" (operator 0)")) << row.name;
  }
}

}  // namespace
}  // namespace ingot::testing
