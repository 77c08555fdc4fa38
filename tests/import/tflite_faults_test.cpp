// SPDX-License-Identifier: Apache-2.0
// Everything that can be wrong with a .tflite model, one row each: a good model, one change, and
// the messages it must yield. Models that are unusual but good stand at the end.
#include <functional>
#include <set>

#include "tests/import/import_testing.h"
#include "tests/import/tflite_fault_rows.h"
#include "tests/support/tflite_damage.h"

namespace ingot::testing {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const Quantization kQ = per_tensor(0.5F, 3);

TEST(TfliteFaults, TheModelThatIsBrokenBelowIsGood) {
  EXPECT_THAT(find_faults(imported(good_model().bytes())), IsEmpty());
}

TEST(TfliteFaults, EachHasItsMessage) {
  for (const FaultRow& row : fault_rows()) {
    SCOPED_TRACE(row.title);
    TfliteWriter w = good_model();
    row.change(w);
    EXPECT_THAT(faults_of(w.bytes()), ElementsAre(HasSubstr(row.message)));
  }
}

// Z02, K02: each index of the file, too low and too high.
TEST(TfliteFaults, EveryIndexIsChecked) {
  const auto expect_refused = [](const char* what,
                                 const std::function<void(TfliteWriter&)>& change) {
    TfliteWriter w = good_model();
    change(w);
    EXPECT_THAT(faults_of(w.bytes()), ElementsAre(HasSubstr("model-index"))) << what;
  };
  const size_t num_tensors = good_model().graph().tensors.size();
  const auto count = static_cast<int32_t>(num_tensors);
  for (const int32_t index : {-2, -2147483647, count, 9999, 2147483647}) {
    for (size_t i = 0; i < good_model().graph().operators.size(); ++i) {
      TfliteWriter model = good_model();
      const size_t num_inputs = operator_at(model, i).inputs.size();
      for (size_t k = 0; k < num_inputs; ++k) {
        expect_refused("input", [=](auto& w) { operator_at(w, i).inputs.at(k) = index; });
      }
      expect_refused("output", [=](auto& w) { operator_at(w, i).outputs.at(0) = index; });
    }
    expect_refused("model input", [=](auto& w) { w.graph().inputs.at(0) = index; });
    expect_refused("model output", [=](auto& w) { w.graph().outputs.at(0) = index; });
  }
  expect_refused("model input", [](auto& w) { w.graph().inputs.at(0) = -1; });
  expect_refused("model output", [](auto& w) { w.graph().outputs.at(0) = -1; });
  expect_refused("output", [](auto& w) { operator_at(w, 0).outputs.at(0) = -1; });
  for (const uint32_t index : {100U, 9999U, 4294967295U}) {
    for (size_t i = 0; i < num_tensors; ++i) {
      expect_refused("buffer", [=](auto& w) { w.graph().tensors.at(i)->buffer = index; });
    }
    for (size_t i = 0; i < good_model().graph().operators.size(); ++i) {
      expect_refused("opcode", [=](auto& w) { operator_at(w, i).opcode_index = index; });
    }
  }
}

// Z10: each axis, beyond either end.
TEST(TfliteFaults, EveryAxisIsChecked) {
  for (const int32_t axis : {2, -3, 100, -100, 2147483647, -2147483647 - 1}) {
    TfliteWriter mean = good_model();
    set_integers(mean, "y/axes", {axis});
    EXPECT_THAT(faults_of(mean.bytes()), ElementsAre(HasSubstr("the axis is"))) << axis;
    TfliteWriter concat = good_model();
    concat.concatenation("z", {6, 6}, 0);
    options_at<format::ConcatenationOptionsT>(concat, 5).axis = axis;
    EXPECT_THAT(faults_of(concat.bytes()), ElementsAre(HasSubstr("the axis is"))) << axis;
  }
}

// Z01, T07, K01: what is not a model at all.
TEST(TfliteFaults, ForeignFiles) {
  const std::vector<uint8_t> good = good_model().bytes();
  const auto with_identifier = [&](std::string_view text) {
    return with_bytes(good, 4, std::vector<uint8_t>(text.begin(), text.end()));
  };
  const struct {
    std::vector<uint8_t> file;
    const char* message;
  } foreign[] = {
      {{}, "0 bytes are too few for a .tflite model"},
      {{1, 2, 3, 4, 5, 6, 7}, "7 bytes are too few"},
      {{0x18, 0, 0, 0, 'T', 'F', 'L', '3'}, "model-unreadable: : the file is damaged"},
      {{0, 0, 0, 0, 'T', 'F', 'L', '3'}, "the file is damaged"},
      {{0xff, 0xff, 0xff, 0xff, 'T', 'F', 'L', '3', 0, 0, 0, 0}, "the file is damaged"},
      {with_identifier("TFL2"), "model-version: : the file is of format \"TFL2\""},
      {with_identifier(std::string(4, '\0')), "the file is not a .tflite model"},
      {with_identifier("ONNX"), "the file is not a .tflite model"},
      {size_prefixed(good), "model-version: : the file begins with a size prefix"},
      {std::vector<uint8_t>(100, 'a'), "the file is not a .tflite model"},
  };
  for (const auto& row : foreign) {
    EXPECT_THAT(faults_of(row.file), ElementsAre(HasSubstr(row.message)));
  }
}

TEST(TfliteFaults, AllAreReportedAtOnce) {
  TfliteWriter w = good_model();
  const int64_t text = w.tensor("text", {DType::kInt8, {1}, std::nullopt});
  w.tensor_at(text).type = format::TensorType::STRING;
  w.op(BuiltinOperator::CUMSUM, {0}, {text});
  w.custom("Mystery", {text}, {w.tensor("z", {DType::kInt8, {1}, kQ})});
  options_at<format::Conv2DOptionsT>(w, 0).stride_h = 0;
  w.graph().outputs.push_back(static_cast<int32_t>(text));
  EXPECT_THAT(faults_of(w.bytes()),
              ElementsAre(HasSubstr("elements of type STRING"), HasSubstr("the stride is 0x1"),
                          HasSubstr("CUMSUM \"text\" (operator 5): the operator is not supported"),
                          HasSubstr("CUSTOM \"Mystery\" \"z\" (operator 6)")));
  const Result<Imported> result = import_tflite(w.bytes(), {});
  EXPECT_THAT(result.error()[1].notes,
              ElementsAre("input  \"x\" int8[1,4,4,2] scale 0.5 zero_point 3",
                          "input  \"filter\" int8[3,2,2,2] per channel", "input  \"bias\" int32[3]",
                          "output \"conv\" int8[1,4,4,3] scale 0.5 zero_point 3"));
}

TEST(TfliteFaults, NotesEndAfterAFewTensors) {
  TfliteWriter w = good_model();
  w.custom("Many", std::vector<int64_t>(1000, 0), {w.tensor("z", {DType::kInt8, {1}, kQ})});
  const Result<Imported> result = import_tflite(w.bytes(), {});
  ASSERT_FALSE(result);
  ASSERT_THAT(result.error()[0].notes, SizeIs(9));
  EXPECT_EQ(result.error()[0].notes.back(), "...");
}

// Z18, K09: limits hold before memory is asked for.
TEST(TfliteFaults, LimitsHold) {
  const std::vector<uint8_t> file = good_model().bytes();
  const struct {
    int64_t ImportLimits::*limit;
    int64_t value;
    const char* message;
  } limits[] = {
      {&ImportLimits::operators, 4, "the model has 5 operators, at most 4 are supported"},
      {&ImportLimits::tensors, 10, "tensors, at most 10 are supported"},
      {&ImportLimits::buffers, 3, "buffers, at most 3 are supported"},
      {&ImportLimits::ports, 1, "the model has 2 inputs and outputs, at most 1 are supported"},
      {&ImportLimits::operands, 3,
       "operator 0: it has 4 inputs and outputs, at most 3 are supported"},
      {&ImportLimits::constant_bytes_read, 60, "bytes of constants, at most 60 are supported"},
      {&ImportLimits::indices, 16, "inputs and outputs of operators, at most 16"},
      {&ImportLimits::constant_bytes, 47, "the constants up to here are larger than 47 bytes"},
      {&ImportLimits::tensor_bytes, 47, "int8[1,4,4,3] is larger than 47 bytes"},
      {&ImportLimits::scales, 2, "the model has more than 2 scales"},
      {&ImportLimits::rank, 3, "the rank is 4, at most 3 is supported"},
  };
  for (const auto& row : limits) {
    ImportOptions import_options;
    import_options.limits.*row.limit = row.value;
    EXPECT_THAT(faults_of(file, import_options), Contains(HasSubstr(row.message)));
    EXPECT_THAT(faults_of(file, import_options), Contains(HasSubstr("model-limit")));
  }
}

// Constants that share a buffer are one in memory, but count for each tensor: C has them for each.
TEST(TfliteFaults, SharedBuffersAreOneInMemory) {
  TfliteWriter w;
  const int64_t x = w.input("x", {DType::kInt8, {4}, kQ});
  const int64_t c = w.constant("c", {DType::kInt8, {4}, kQ}, std::vector<int8_t>(4));
  int64_t y = w.add("y", x, c, kQ);
  for (int i = 0; i < 10; ++i) {
    format::TensorT shared = w.tensor_at(c);
    y = w.add("y", y, w.tensor(std::move(shared)), kQ);
  }
  w.output(y);
  ImportOptions import_options;
  import_options.limits.constant_bytes = 44;
  const Graph graph = imported(w.bytes(), import_options);
  std::set<const uint8_t*> addresses;
  for (const Value& value : graph.values) {
    if (value.constant) addresses.insert(value.constant->view().data());
  }
  EXPECT_THAT(addresses, SizeIs(1));
  import_options.limits.constant_bytes = 43;
  EXPECT_THAT(faults_of(w.bytes(), import_options),
              Contains(HasSubstr("the constants up to here are larger than 43 bytes")));
}

TEST(TfliteFaults, EveryCodeOfTheImporterIsExercised) {
  std::set<std::string> seen;
  const auto see = [&](const std::vector<uint8_t>& file) {
    for (const std::string& line : faults_of(file)) seen.insert(line.substr(0, line.find(':')));
  };
  for (const FaultRow& row : fault_rows()) {
    TfliteWriter w = good_model();
    row.change(w);
    see(w.bytes());
  }
  see({});
  for (const char* code :
       {"model-unreadable", "model-version", "model-index", "model-limit", "model-graph",
        "tensor-unsupported", "tensor-malformed", "constant-size", "quantization-malformed",
        "operator-unsupported", "operator-malformed"}) {
    EXPECT_THAT(seen, Contains(code));
    EXPECT_TRUE(find_code(code));
  }
}

}  // namespace
}  // namespace ingot::testing
