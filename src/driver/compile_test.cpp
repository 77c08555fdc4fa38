// SPDX-License-Identifier: Apache-2.0
#include "driver/compile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "driver/layers.h"
#include "driver/limits.h"
#include "driver/output.h"
#include "driver/vectors.h"
#include "graph/text.h"
#include "loop/text.h"
#include "tests/support/sample_models.h"

namespace ingot {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

CompileOptions options_for(const std::string& name) {
  CompileOptions options;
  options.name = name;
  return options;
}

std::vector<std::string> names_of(const std::vector<OutputFile>& files) {
  std::vector<std::string> names;
  for (const OutputFile& file : files) names.push_back(file.name);
  return names;
}

Graph graph_of(std::string_view text) {
  const Result<Graph> graph = parse_graph(text);
  EXPECT_TRUE(graph.has_value());
  return graph ? *graph : Graph();
}

// Two values are alive together in the middle, 16 bytes.
constexpr std::string_view kChain = R"(graph "chain"
x: int8[8] scale 1 zero_point 0 = input
a: int8[8] scale 0.5 zero_point 0 = requantize() x
b: int8[8] scale 0.0078125 zero_point 0 = unary(kind=tanh) a
c: int8[8] scale 0.0078125 zero_point 0 = unary(kind=tanh) b
d: int8[8] scale 1 zero_point 0 = binary(kind=add) a, c
output d
)";

// NAME.loops says all that NAME.h, NAME.c and NAME_weights.c are printed from.
TEST(Compile, PrintsTheCFromTheLoopProgramThatItWrites) {
  std::vector<CompileOptions> ways(3, options_for("net"));
  ways[1].io = EmitOptions::Io::kArena;
  ways[1].reuse_inputs = true;
  ways[2].target = "cortex-m4";
  for (const testing::SampleModel& model : testing::sample_models()) {
    for (const CompileOptions& options : ways) {
      const Result<Compiled> compiled = compile(model.file, options);
      ASSERT_TRUE(compiled.has_value()) << model.name;
      const Result<loop::Program> read = loop::parse(compiled->files.at(4).bytes.str());
      ASSERT_TRUE(read.has_value()) << model.name << ": " << read.error().front().what;
      const std::vector<CFile> printed =
          emit_c(*read, emit_options(*compiled, options, *find_target(options.target)));
      ASSERT_THAT(printed, SizeIs(3));
      for (size_t i = 0; i < printed.size(); ++i) {
        EXPECT_EQ(printed[i].text.str(), compiled->files[i].bytes.str())
            << model.name << ", " << printed[i].name;
      }
    }
  }
}

TEST(Compile, WritesItsFilesAndTheSameTwice) {
  for (const testing::SampleModel& model : testing::sample_models()) {
    const Result<Compiled> first = compile(model.file, options_for("net"));
    ASSERT_TRUE(first.has_value()) << model.name << ": " << first.error().front().what;
    EXPECT_THAT(names_of(first->files),
                ElementsAre("net.h", "net.c", "net_weights.c", "net.json", "net.loops"));
    const Result<Compiled> second = compile(model.file, options_for("net"));
    ASSERT_TRUE(second.has_value());
    for (size_t i = 0; i < first->files.size(); ++i) {
      EXPECT_EQ(first->files[i].bytes.str(), second->files[i].bytes.str()) << first->files[i].name;
    }
  }
}

TEST(Compile, HooksSeeEveryStepInOrder) {
  std::vector<std::string> steps;
  std::string lowered;
  const Hooks hooks{[&](std::string_view step, const std::function<std::string()>& text) {
    steps.emplace_back(step);
    if (step == "lower") lowered = text();
  }};
  const Result<Compiled> compiled = compile(testing::dense_chain().file, options_for("net"), hooks);
  ASSERT_TRUE(compiled.has_value());
  EXPECT_THAT(steps, ElementsAreArray(step_names()));
  EXPECT_THAT(lowered, HasSubstr("program net"));
}

TEST(Compile, AnyBytesEndInDiagnostics) {
  std::vector<uint8_t> file = testing::dense_chain().file;
  file.resize(file.size() / 3);
  const Result<Compiled> compiled = compile(file, options_for("net"));
  ASSERT_FALSE(compiled.has_value());
  EXPECT_THAT(compiled.error(),
              Not(Contains(::testing::Field(&Diagnostic::code, Code::kInternal))));
}

// An exception of whatever kind becomes a diagnostic, once, here.
TEST(Compile, ExceptionsBecomeInternalErrors) {
  const auto with = [](const std::function<void()>& raise) {
    const Hooks hooks{[&](std::string_view step, const std::function<std::string()>&) {
      if (step == "lower") raise();
    }};
    const Result<Compiled> compiled =
        compile_graph(graph_of(kChain), options_for("net"), "", hooks);
    return compiled ? Diagnostic() : compiled.error().front();
  };
  const Diagnostic broken = with([] { CHECK(1 + 1 == 3); });
  EXPECT_EQ(broken.code, Code::kInternal);
  EXPECT_THAT(broken.what, HasSubstr("1 + 1 == 3"));
  EXPECT_EQ(with([] { throw std::bad_alloc(); }).what, "there is not enough memory");
  EXPECT_EQ(with([] { throw std::runtime_error("odd"); }).what, "odd");
}

TEST(Compile, CallersBuffersGetTheNamesOfTheirTensors) {
  Graph graph = graph_of(kChain);
  graph[graph.inputs[0]].name = "t0";  // as inner buffers are named
  graph[graph.outputs[0]].name = "My/Output:0";
  const Result<Compiled> compiled = compile_graph(graph, options_for("net"));
  ASSERT_TRUE(compiled.has_value());
  EXPECT_EQ(compiled->interface.inputs.at(0).c_name, "t0");
  EXPECT_EQ(compiled->interface.outputs.at(0).c_name, "my_output_0");
}

TEST(ArenaLimit, NamesTheBuffersAtThePeak) {
  const Result<Compiled> compiled = compile_graph(graph_of(kChain), options_for("net"));
  ASSERT_TRUE(compiled.has_value());
  const int64_t need = compiled->storage.arena_bytes;
  EXPECT_THAT(check_arena_limit(*compiled, need), SizeIs(0));
  const Diagnostics excess = check_arena_limit(*compiled, need - 1);
  ASSERT_THAT(excess, SizeIs(1));
  EXPECT_EQ(excess[0].code, Code::kArenaLimit);
  EXPECT_THAT(excess[0].notes, Contains(HasSubstr("proved")));
  EXPECT_THAT(excess[0].notes, Contains(HasSubstr("\"a\"")));
}

TEST(Addresses, OfThirtyTwoBitsReachNoArenaOfFourGigabytes) {
  Storage storage;
  storage.arena_bytes = (int64_t{1} << 32) + 16;
  for (const Target& target : all_targets()) {
    const bool is_long =
        target.name == "c99" || target.name == "aarch64" || target.name.starts_with("x86-64");
    const Diagnostics excess = check_addresses(storage, target);
    ASSERT_THAT(excess, SizeIs(is_long ? 0 : 1)) << target.name;
    for (const Diagnostic& d : excess) EXPECT_THAT(d.what, HasSubstr("4294967312 bytes"));
  }
  storage.arena_bytes = (int64_t{1} << 31) - 1;
  EXPECT_THAT(check_addresses(storage, *find_target("cortex-m4")), SizeIs(0));
}

TEST(Layers, EveryInnerTensorBecomesAnOutputOnce) {
  const Graph graph = with_inner_outputs(graph_of(kChain));
  std::vector<std::string> names;
  for (const ValueId id : graph.outputs) names.push_back(graph[id].name);
  EXPECT_THAT(names, ElementsAre("d", "a", "b", "c"));
}

TEST(Vectors, AreAFunctionOfSeedAndIndex) {
  const Graph graph = graph_of(kChain);
  EXPECT_EQ(random_inputs(graph, 1, 0), random_inputs(graph, 1, 0));
  EXPECT_NE(random_inputs(graph, 1, 0), random_inputs(graph, 1, 1));
  EXPECT_NE(random_inputs(graph, 1, 0), random_inputs(graph, 2, 0));
  EXPECT_NE(random_inputs(graph, 1, 1), random_inputs(graph, 2, 0));
}

}  // namespace
}  // namespace ingot
