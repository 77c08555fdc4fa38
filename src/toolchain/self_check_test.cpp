// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "toolchain/emulate.h"
#include "toolchain/harness_text.h"
#include "toolchain/tiny_model.h"

namespace ingot::toolchain {
namespace {

using testing::HasSubstr;

const std::vector<std::string> kStrict = {"-O2",     "-pedantic",        "-Wall",
                                          "-Wextra", "-Wconversion",     "-Wshadow",
                                          "-Werror", "-Wsign-conversion"};

// Builds `files` and the self-check of `model` among them, and runs it.
Execution run_self_check(const Board& board, const std::vector<OutputFile>& files,
                         const ModelInterface& model, const std::vector<GoldenVector>& vectors,
                         const std::string& compiler, std::vector<std::string> flags) {
  Sources sources;
  sources.model = files;
  sources.model.push_back({model.name + "_test.c", self_check_text(model, vectors)});
  flags.insert(flags.end(), kStrict.begin(), kStrict.end());
  const Result<Execution> execution =
      build_and_run(board, sources, {.compiler = compiler, .flags = flags});
  EXPECT_TRUE(execution.has_value())
      << execution.error().front().what << testing::PrintToString(execution.error().front().notes);
  return execution ? *execution : Execution{};
}

// A model that copies an input of each type to an output.
constexpr DType kAllTypes[] = {DType::kBool,   DType::kInt8,    DType::kUInt8,   DType::kInt16,
                               DType::kUInt16, DType::kInt32,   DType::kUInt32,  DType::kInt64,
                               DType::kUInt64, DType::kFloat16, DType::kFloat32, DType::kFloat64};

ModelInterface copier() {
  ModelInterface model{.name = "copier", .arena_bytes = 1};
  for (const DType dtype : kAllTypes) {
    const std::string name(name_of(dtype));
    model.inputs.push_back({"x_" + name, dtype, 4 * size_in_bytes(dtype)});
    model.outputs.push_back({"y_" + name, dtype, 4 * size_in_bytes(dtype)});
  }
  return model;
}

std::vector<OutputFile> copier_files() {
  std::string inputs;
  std::string outputs;
  std::string copies;
  for (const DType dtype : kAllTypes) {
    const std::string_view name = name_of(dtype);
    inputs += fmt::format("  const {} *x_{};\n", c_type_of(dtype), name);
    outputs += fmt::format("  {} *y_{};\n", c_type_of(dtype), name);
    copies += fmt::format("  memcpy(outputs->y_{0}, inputs->x_{0}, {1});\n", name,
                          4 * size_in_bytes(dtype));
  }
  const std::string header =
      "#ifndef COPIER_H\n#define COPIER_H\n#include <stdint.h>\n#define COPIER_ARENA_BYTES 1u\n"
      "#define COPIER_ARENA_ALIGNMENT 1u\ntypedef struct {\n" +
      inputs + "} copier_inputs;\ntypedef struct {\n" + outputs +
      "} copier_outputs;\nint32_t copier_run(const copier_inputs *inputs, "
      "const copier_outputs *outputs, void *arena);\n#endif\n";
  const std::string source =
      "#include <string.h>\n#include \"copier.h\"\n"
      "int32_t copier_run(const copier_inputs *inputs, const copier_outputs *outputs, "
      "void *arena) {\n  (void)arena;\n" +
      copies + "  return 0;\n}\n";
  return {{"copier.h", header}, {"copier.c", source}};
}

template <class T>
std::vector<uint8_t> extremes() {
  using Limits = std::numeric_limits<T>;
  if constexpr (std::is_floating_point_v<T>) {
    return bytes_of<T>({Limits::quiet_NaN(), -Limits::infinity(), Limits::max(), Limits::min()});
  } else {
    return bytes_of<T>({Limits::lowest(), Limits::max(), 0, 1});
  }
}

GoldenVector copier_golden() {
  const Tensors tensors = {{0, 1, 1, 0},         extremes<int8_t>(),   extremes<uint8_t>(),
                           extremes<int16_t>(),  extremes<uint16_t>(), extremes<int32_t>(),
                           extremes<uint32_t>(), extremes<int64_t>(),  extremes<uint64_t>(),
                           extremes<uint16_t>(), extremes<float>(),    extremes<double>()};
  return {tensors, tensors};
}

TEST(SelfCheck, PassesWithoutWarningsInEachLanguage) {
  const struct {
    std::string compiler;
    std::vector<std::string> flags;
  } rows[] = {{"gcc", {"-std=c99"}},
              {"clang", {"-std=c99"}},
              {"g++", {"-std=c++11", "-fsanitize=address,undefined"}},
              {"clang++", {"-x", "c++", "-std=c++11"}}};
  for (const auto& row : rows) {
    if (!find_program(row.compiler)) continue;
    for (const bool io_in_arena : {false, true}) {
      ModelInterface model = tiny();
      model.io_in_arena = io_in_arena;
      const Execution execution = run_self_check(host_board(), tiny_files(model), model, goldens(),
                                                 row.compiler, row.flags);
      EXPECT_EQ(execution.console, "PASS tiny: 2 vectors\n") << row.compiler;
      EXPECT_EQ(execution.exit_code, 0);
    }
    const Execution execution = run_self_check(host_board(), copier_files(), copier(),
                                               {copier_golden()}, row.compiler, row.flags);
    EXPECT_EQ(execution.console, "PASS copier: 1 vectors\n") << row.compiler;
  }
}

TEST(SelfCheck, PassesOnACore) {
  const Board& board = *find_board("cortex-m4");
  const std::vector<std::string> missing = missing_programs(board);
  if (!missing.empty()) GTEST_SKIP() << "skipped: " << missing.front() << " is not installed";
  const Execution execution =
      run_self_check(board, copier_files(), copier(), {copier_golden()}, "", {"-std=c99"});
  EXPECT_EQ(execution.console, "PASS copier: 1 vectors\n");
}

TEST(SelfCheck, EveryWrongOutputFails) {
  for (size_t i = 0; i < copier().outputs.size(); ++i) {
    GoldenVector golden = copier_golden();
    std::vector<uint8_t>& bytes = golden.outputs[i];
    bytes[bytes.size() / 2 - 1] ^= 0x80U;  // of the second element; of floats, an infinity's sign
    const Execution execution =
        run_self_check(host_board(), copier_files(), copier(), {golden}, "cc", {"-std=c99"});
    EXPECT_EQ(execution.exit_code, 1) << i;
    EXPECT_EQ(execution.console, fmt::format("FAIL copier: vector 0, output {}, element 1\n"
                                             "FAIL copier: 1 of 1 vectors\n",
                                             copier().outputs[i].c_name));
  }
}

TEST(SelfCheck, FloatsMayDifferALittle) {
  const struct {
    float factor;
    int64_t exit_code;
  } rows[] = {{1.0F + 0.9e-5F, 0},
              {1.0F + 1.2e-5F, 1},
              {std::numeric_limits<float>::infinity(), 1},
              {std::numeric_limits<float>::quiet_NaN(), 1}};
  for (const auto& row : rows) {
    GoldenVector vector = golden(1, 100.0F);
    vector.inputs[1] = bytes_of<float>({100.0F * row.factor, -0.25F, 3.5F});
    EXPECT_EQ(
        run_self_check(host_board(), tiny_files(), tiny(), {vector}, "cc", {"-std=c99"}).exit_code,
        row.exit_code)
        << row.factor;
  }
}

TEST(SelfCheck, AModelThatDoesNotRunFails) {
  const Execution execution = run_self_check(host_board(), tiny_files(), tiny(), goldens(), "cc",
                                             {"-std=c99", "-DFAULT=return -7"});
  EXPECT_THAT(execution.console, HasSubstr("FAIL tiny: vector 1, the run returned -7"));
  EXPECT_EQ(execution.exit_code, 1);
}

TEST(SelfCheck, RecordsMustFitTheModel) {
  std::vector<GoldenVector> vectors = goldens();
  vectors[1].outputs[0].pop_back();
  EXPECT_THROW(self_check_text(tiny(), vectors), InternalError);
}

}  // namespace
}  // namespace ingot::toolchain
