// SPDX-License-Identifier: Apache-2.0
// Networks of our own against vectors that were not computed by Ingot (docs/vectors.md): the
// reference executor, and the generated C of several compilers and ways of passing buffers, on the
// host and on an emulated Cortex-M4, must give these bytes.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "driver/compile.h"
#include "exec/reference.h"
#include "support/file.h"
#include "tests/guarantee/many_models.h"
#include "tests/support/tflite_json.h"
#include "toolchain/board.h"
#include "toolchain/emulate.h"

namespace ingot::testing {
namespace {

using nlohmann::json;

struct Network {
  std::string name;
  json model;  // tests/support/tflite_json.h
  std::vector<toolchain::GoldenVector> vectors;
  std::map<std::string, TensorBytes> inner;  // of the first vector, by name
};

json json_file(const std::filesystem::path& path) {
  const Result<std::vector<uint8_t>> text = read_file(path);
  if (!text) throw InternalError(path.string() + " cannot be read");
  return json::parse(*text);
}

TensorBytes from_hex(const json& digits) {
  const auto text = digits.get<std::string>();
  TensorBytes bytes;
  for (size_t i = 0; i < text.size(); i += 2) {
    bytes.push_back(static_cast<uint8_t>(std::stoi(text.substr(i, 2), nullptr, 16)));
  }
  return bytes;
}

toolchain::Tensors tensors(const json& list) {
  toolchain::Tensors result;
  for (const json& digits : list) result.push_back(from_hex(digits));
  return result;
}

Network read_network(const std::filesystem::path& folder) {
  Network network{folder.filename().string(), json_file(folder / "model.json"), {}, {}};
  const json recorded = json_file(folder / "vectors.json");
  for (const json& vector : recorded.at("vectors")) {
    network.vectors.push_back({tensors(vector.at("inputs")), tensors(vector.at("outputs"))});
  }
  for (const auto& [name, digits] : recorded.at("vectors").at(0).at("inner").items()) {
    network.inner[name] = from_hex(digits);
  }
  return network;
}

const std::vector<Network>& networks() {
  static const std::vector<Network> all = [] {
    std::vector<std::filesystem::path> folders;
    const std::filesystem::path root =
        std::filesystem::path(INGOT_SOURCE_FOLDER) / "tests" / "vectors";
    for (const auto& entry : std::filesystem::directory_iterator(root)) {
      if (entry.is_directory()) folders.push_back(entry.path());
    }
    std::ranges::sort(folders);
    std::vector<Network> result;
    for (const auto& folder : folders) result.push_back(read_network(folder));
    return result;
  }();
  return all;
}

std::vector<uint8_t> file_of(const json& model) { return tflite_from_json(model.dump(), "."); }

// The network with every inner tensor as a further output, and its first vector.
Network with_inner_outputs(const Network& network) {
  Network result{network.name + "_inner", network.model, {network.vectors.front()}, {}};
  for (const auto& [name, bytes] : network.inner) {
    result.model["outputs"].push_back(name);
    result.vectors.front().outputs.push_back(bytes);
  }
  return result;
}

TEST(RecordedVectors, CoverEveryInt8Operator) {
  std::map<std::string, int64_t> counts;
  for (const Network& network : networks()) {
    EXPECT_GE(network.vectors.size(), 5U) << network.name;
    for (const json& op : network.model.at("operators")) ++counts[op.at("op").get<std::string>()];
  }
  for (const char* op : {"CONV_2D",
                         "DEPTHWISE_CONV_2D",
                         "FULLY_CONNECTED",
                         "AVERAGE_POOL_2D",
                         "MAX_POOL_2D",
                         "ADD",
                         "SUB",
                         "MUL",
                         "PAD",
                         "PADV2",
                         "MEAN",
                         "RESHAPE",
                         "SQUEEZE",
                         "EXPAND_DIMS",
                         "CONCATENATION",
                         "SOFTMAX",
                         "LOGISTIC",
                         "TANH",
                         "RELU",
                         "RELU6",
                         "QUANTIZE",
                         "DEQUANTIZE",
                         "RELU_N1_TO_1"}) {
    EXPECT_GE(counts[op], 1) << op;
  }
}

TEST(RecordedVectors, AreWhatTheReferenceExecutorComputes) {
  for (const Network& network : networks()) {
    const Result<ImportedModel> imported =
        read_model(file_of(network.model), {.name = network.name});
    ASSERT_TRUE(imported.has_value()) << network.name << ": " << imported.error().front().what;
    EXPECT_TRUE(imported->warnings.empty()) << network.name;
    const Graph& graph = imported->graph;
    const ReferenceExecutor executor(graph, Rounding::kDouble);
    // Inner tensors first: the first that differs names the operator.
    const std::vector<TensorBytes> values = executor.run_all(network.vectors.front().inputs);
    size_t num_compared = 0;
    for (size_t i = 0; i < graph.values.size(); ++i) {
      const auto recorded = network.inner.find(graph.values[i].name);
      if (recorded == network.inner.end()) continue;
      EXPECT_EQ(values[i], recorded->second) << network.name << ": " << recorded->first;
      ++num_compared;
    }
    EXPECT_EQ(num_compared, network.inner.size()) << network.name;
    for (size_t v = 0; v < network.vectors.size(); ++v) {
      EXPECT_EQ(executor.run(network.vectors[v].inputs), network.vectors[v].outputs)
          << network.name << ", vector " << v;
    }
  }
}

ModelRun compiled(const Network& network, CompileOptions options) {
  options.name = "net_" + network.name;
  Result<Compiled> result = compile(file_of(network.model), options);
  if (!result) throw InternalError(network.name + ": " + result.error().front().what);
  return {result->interface, result->files, network.vectors};
}

struct Build {
  const char* name;
  const char* board;
  const char* compiler;  // empty: the board's
  std::vector<std::string> flags;
  EmitOptions::Io io = EmitOptions::Io::kCaller;
  bool reuse_inputs = false;
  bool inner_outputs = false;  // also the variants whose inner tensors are outputs
};

std::ostream& operator<<(std::ostream& stream, const Build& build) { return stream << build.name; }

const std::vector<std::string> kSanitize = {"-O1", "-fsanitize=address,undefined",
                                            "-fno-sanitize-recover=all"};
const Build kBuilds[] = {
    {"gcc", "c99", "gcc", {"-std=c99", "-O2"}, EmitOptions::Io::kCaller, true, true},
    {"gcc_sanitized", "c99", "gcc", kSanitize},
    {"gcc_arena", "c99", "gcc", {"-O0"}, EmitOptions::Io::kArena, false},
    {"clang", "c99", "clang", {"-std=c99", "-O3"}},
    {"clang_sanitized", "c99", "clang", kSanitize, EmitOptions::Io::kArena, true},
    {"cortex_m4", "cortex-m4", "", {"-O2"}},
};

class RecordedVectorsInC : public ::testing::TestWithParam<Build> {};

TEST_P(RecordedVectorsInC, AreWhatTheGeneratedCodeComputes) {
  const Build& build = GetParam();
  const toolchain::Board& board = *toolchain::find_board(build.board);
  const std::vector<std::string> missing = toolchain::missing_programs(board, build.compiler);
  if (!missing.empty()) GTEST_SKIP() << "skipped: " << missing.front() << " is not installed";
  const CompileOptions options{
      .name = "", .target = build.board, .io = build.io, .reuse_inputs = build.reuse_inputs};
  std::vector<ModelRun> runs;
  for (const Network& network : networks()) {
    runs.push_back(compiled(network, options));
    if (build.inner_outputs) runs.push_back(compiled(with_inner_outputs(network), options));
  }
  toolchain::BuildOptions build_options{.compiler = build.compiler, .flags = build.flags};
  build_options.flags.emplace_back("-ffp-contract=off");
  const Result<toolchain::Execution> execution =
      toolchain::build_and_run(board, many_models(runs), build_options);
  ASSERT_TRUE(execution.has_value()) << execution.error().front().what
                                     << ::testing::PrintToString(execution.error().front().notes);
  EXPECT_EQ(execution->fault, "");
  EXPECT_THAT(execution->console,
              ::testing::HasSubstr(fmt::format("{} models are right", runs.size())));
}

INSTANTIATE_TEST_SUITE_P(Builds, RecordedVectorsInC, ::testing::ValuesIn(kBuilds),
                         [](const auto& instance) { return instance.param.name; });

}  // namespace
}  // namespace ingot::testing
