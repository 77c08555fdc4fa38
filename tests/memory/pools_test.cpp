// SPDX-License-Identifier: Apache-2.0
// The caller's memory: pools of stated sizes beside the arena, tensors that are placed by the user,
// and one arena that several models share. Everything is compiled, built, run between guard bytes,
// interpreted with tags, and judged by assay.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "driver/generated.h"
#include "driver/limits.h"
#include "driver/shadow.h"
#include "driver/vectors.h"
#include "loop/text.h"
#include "tests/memory/judging.h"
#include "tests/support/random_network.h"
#include "tests/support/sample_models.h"
#include "toolchain/emulate.h"

namespace ingot::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Io = EmitOptions::Io;

// Two pools, of so much of the arena that it would need without them.
CompileOptions with_pools(const SampleModel& model, CompileOptions options, double share) {
  const int64_t alone = compiled_with(model, options).storage.arena_bytes;
  const auto part = static_cast<int64_t>(static_cast<double>(alone) * share);
  options.pools = {{"fast", part}, {"middle", part / 2}};
  return options;
}

TEST(Pools, EveryPlanIsAcceptedByAllJudges) {
  std::vector<SampleModel> models = sample_models();
  for (SampleModel& model : guarantee_models()) models.push_back(std::move(model));
  for (uint64_t seed = 1; seed <= 20; ++seed) models.push_back(random_network(seed));
  int64_t used = 0;
  for (const SampleModel& model : models) {
    for (const double share : {0.3, 0.7, 1.5}) {
      for (const Io io : {Io::kCaller, Io::kArena}) {
        const CompileOptions options =
            with_pools(model, {.name = model.name, .io = io, .reuse_inputs = share > 0.5}, share);
        const Compiled compiled = compiled_with(model, options);
        EXPECT_EQ(verdict(compiled), "") << model.name << " " << share;
        EXPECT_THAT(shadow_violations(compiled, options.reuse_inputs, vectors_of(compiled, 1)),
                    IsEmpty())
            << model.name << " " << share;
        for (size_t p = 0; p < options.pools.size(); ++p) {
          EXPECT_LE(compiled.storage.pools.at(p).bytes, options.pools[p].capacity_bytes);
          used += compiled.storage.pools[p].bytes > 0 ? 1 : 0;
        }
        const Result<loop::Program> read = loop::parse(text_of(compiled, ".loops"));
        ASSERT_TRUE(read.has_value());
        EXPECT_TRUE(loop::equal(*read, compiled.storage.program)) << model.name;
      }
    }
  }
  EXPECT_GT(used, 100);
}

TEST(Pools, TheCRunsBetweenGuardBytes) {
  const SampleModel models[] = {residual(), two_branches(), requantised()};
  for (const SampleModel& model : models) {
    for (const Io io : {Io::kCaller, Io::kArena}) {
      const CompileOptions options = with_pools(model, {.name = model.name, .io = io}, 0.6);
      const Compiled compiled = compiled_with(model, options);
      const Result<ValidationReport> report =
          validate(compiled, "c99", vectors_of(compiled, 2),
                   {"",
                    {"-O1", "-std=c99", "-pedantic", "-Wall", "-Wextra", "-Wconversion", "-Wshadow",
                     "-Werror", "-fsanitize=address,undefined"}});
      ASSERT_TRUE(report.has_value())
          << model.name << ::testing::PrintToString(report.error().front().notes);
      EXPECT_TRUE(report->all_is_well())
          << model.name << ::testing::PrintToString(report->violations);
    }
  }
}

TEST(Pools, TheSelfCheckPasses) {
  const SampleModel model = residual();
  const CompileOptions options = with_pools(model, {.name = model.name}, 0.6);
  const Compiled compiled = compiled_with(model, options);
  OutputFile test = self_check_file(compiled, options, 2, 1);
  test.name = "check.c";
  toolchain::Sources sources;
  for (const OutputFile& file : compiled.files) {
    if (file.name.ends_with(".c") || file.name.ends_with(".h")) sources.model.push_back(file);
  }
  sources.model.push_back(test);
  const Result<toolchain::Execution> run =
      toolchain::build_and_run(*toolchain::find_board("c99"), sources);
  ASSERT_TRUE(run.has_value()) << ::testing::PrintToString(run.error().front().notes);
  EXPECT_THAT(run->console, HasSubstr("PASS"));
}

TEST(Pools, TheInterface) {
  const SampleModel model = residual();
  CompileOptions options{.name = "net", .pools = {{"fast", 1 << 20}, {"slow", 7}}};
  const Compiled compiled = compiled_with(model, options);
  EXPECT_EQ(compiled.storage.arena_bytes, 0);
  const std::string header = text_of(compiled, ".h");
  for (const std::string& part :
       {std::string("#define NET_ARENA_BYTES 0u\n"),
        fmt::format("#define NET_POOL_FAST_BYTES {}u\n", compiled.storage.pools.at(0).bytes),
        std::string("#define NET_POOL_FAST_ALIGNMENT"),
        std::string("#define NET_POOL_SLOW_BYTES 0u"),
        std::string(
            "typedef struct {\n  void *arena;\n  void *fast;\n  void *slow;\n} net_memory;"),
        std::string("const net_memory *memory);")}) {
    EXPECT_THAT(header, HasSubstr(part));
  }
  const std::string code = text_of(compiled, "net.c");
  EXPECT_THAT(code, HasSubstr("memory->fast == NULL"));
  EXPECT_THAT(code, HasSubstr("(uintptr_t)memory->fast & (NET_POOL_FAST_ALIGNMENT - 1u)"));
  EXPECT_THAT(text_of(compiled, ".json"), HasSubstr("\"memory\""));
  EXPECT_THAT(text_of(compiled, ".loops"), HasSubstr(" pool fast "));
}

// Names of tensors in inner buffers, in the order of the program.
std::vector<std::string> inner_tensors(const Compiled& compiled) {
  std::vector<std::string> tensors;
  for (const loop::Buffer& b : compiled.storage.program.buffers) {
    const bool is_inner = b.kind == loop::BufferKind::kArena && !b.tensor.empty();
    if (is_inner && b.tie_group < 0) tensors.push_back(b.tensor);
  }
  return tensors;
}

TEST(Pools, PlacedTensorsLieWhereTheUserWants) {
  const SampleModel model = residual();
  const std::vector<std::string> tensors = inner_tensors(compiled_with(model, {.name = "net"}));
  ASSERT_GE(tensors.size(), 2U);
  CompileOptions options{.name = "net", .pools = {{"a", 1 << 20}, {"b", 1 << 20}}};
  options.places = {{tensors[0], "b"}, {tensors[1], "arena"}};
  const Compiled compiled = compiled_with(model, options);
  EXPECT_EQ(verdict(compiled), "");
  for (const loop::Buffer& b : compiled.storage.program.buffers) {
    if (b.tensor == tensors[0]) {
      EXPECT_EQ(b.pool, "b");
    }
    if (b.tensor == tensors[1]) {
      EXPECT_EQ(b.pool, "");
    }
  }
}

TEST(Pools, WhatCannotBePlacedIsRefused) {
  const SampleModel model = residual();
  const std::vector<std::string> tensors = inner_tensors(compiled_with(model, {.name = "net"}));
  const struct {
    std::map<std::string, std::string> places;
    int64_t capacity;
    Code code;
    const char* what;
  } rows[] = {
      {{{"nobody", "a"}}, 1 << 20, Code::kUsage, "which no inner buffer holds"},
      {{{tensors.at(0), "c"}}, 1 << 20, Code::kUsage, "which no --pool defines"},
      {{{tensors.at(0), "a"}}, 1, Code::kArenaLimit, "needs"},
  };
  for (const auto& row : rows) {
    const Result<Compiled> compiled =
        compile(model.file, {.name = "net", .pools = {{"a", row.capacity}}, .places = row.places});
    ASSERT_FALSE(compiled.has_value()) << row.what;
    EXPECT_EQ(compiled.error().front().code, row.code);
    EXPECT_THAT(compiled.error().front().what, HasSubstr(row.what));
    if (row.code != Code::kArenaLimit) continue;
    EXPECT_THAT(::testing::PrintToString(compiled.error().front().notes), HasSubstr(tensors[0]));
  }
}

TEST(Pools, AssaySeesLies) {
  const SampleModel model = residual();
  const CompileOptions options = with_pools(model, {.name = "net"}, 0.6);
  const Compiled compiled = compiled_with(model, options);
  const std::string json = text_of(compiled, ".json");
  const std::string loops = text_of(compiled, ".loops");
  ASSERT_EQ(verdict(json, loops), "");
  EXPECT_THAT(verdict(json, changed(loops, " pool fast", " pool slow")),
              HasSubstr("which does not exist"));
  EXPECT_NE(verdict(json, changed(loops, " pool fast", "")), "");
  EXPECT_NE(verdict(json, changed(loops, " pool fast", " pool middle")), "");
  EXPECT_THAT(verdict(changed(json, "\"kind\": \"pool\"", "\"kind\": \"state\""), loops),
              HasSubstr("states another kind of fast"));
  EXPECT_THAT(verdict(changed(json, "\"pool\": \"fast\"", "\"pool\": \"middle\""), loops),
              HasSubstr("another pool of"));
  const std::string bytes = fmt::format("\"bytes\": {},", compiled.storage.pools.at(0).bytes);
  const size_t memory = json.find("\"memory\"");
  ASSERT_NE(memory, std::string::npos);
  const std::string larger =
      json.substr(0, memory) +
      changed(json.substr(memory), bytes,
              fmt::format("\"bytes\": {},", compiled.storage.pools[0].bytes - 1));
  EXPECT_NE(verdict(larger, loops), "");
  // The first limit is that of the options, the second what the memory states.
  const std::string smaller =
      json.substr(0, memory) +
      changed(json.substr(memory), "\"capacity_bytes\": ", "\"capacity_bytes\": 1");
  EXPECT_THAT(verdict(smaller, loops), HasSubstr("another capacity_bytes of fast"));
  EXPECT_THAT(verdict(json, changed(loops, " input align 1", " input align 4")),
              HasSubstr("asks the caller for more alignment"));
}

// C text of bytes as an array.
std::string array_text(const std::string& name, const std::vector<uint8_t>& bytes) {
  std::string text = "static unsigned char " + name + "[] __attribute__((aligned(16))) = {";
  for (const uint8_t byte : bytes) text += fmt::format("{},", byte);
  return text + "0};\n";
}

// The arena holds nothing between runs: two models run in turns in one of the larger size.
TEST(SharedArena, TwoModelsRunInTurns) {
  const SampleModel models[] = {residual(), two_branches()};
  toolchain::Sources sources;
  std::string arrays;
  std::string calls;
  int64_t arena_bytes = 0;
  for (const SampleModel& model : models) {
    const Compiled compiled = compiled_with(model, {.name = model.name});
    arena_bytes = std::max(arena_bytes, compiled.storage.arena_bytes);
    for (const OutputFile& file : compiled.files) {
      if (file.name.ends_with(".c") || file.name.ends_with(".h")) sources.model.push_back(file);
    }
    const toolchain::GoldenVector vector = vectors_of(compiled, 1).front();
    const std::string& name = model.name;
    std::string members;
    std::string checks;
    for (size_t i = 0; i < vector.inputs.size(); ++i) {
      arrays += array_text(fmt::format("{}_in{}", name, i), vector.inputs[i]);
      members += fmt::format("    in.{} = (void *){}_in{};\n",
                             compiled.interface.inputs.at(i).c_name, name, i);
    }
    for (size_t i = 0; i < vector.outputs.size(); ++i) {
      arrays += array_text(fmt::format("{}_want{}", name, i), vector.outputs[i]);
      arrays += array_text(fmt::format("{}_out{}", name, i),
                           std::vector<uint8_t>(vector.outputs[i].size()));
      members += fmt::format("    out.{} = (void *){}_out{};\n",
                             compiled.interface.outputs.at(i).c_name, name, i);
      checks += fmt::format("    if (memcmp({0}_out{1}, {0}_want{1}, {2})) return 2;\n", name, i,
                            vector.outputs[i].size());
      checks +=
          fmt::format("    memset({0}_out{1}, 85, {2});\n", name, i, vector.outputs[i].size());
    }
    calls += fmt::format(
        "  {{\n    {0}_inputs in;\n    {0}_outputs out;\n{1}"
        "    if ({0}_run(&in, &out, arena) != 0) return 1;\n{2}  }}\n",
        name, members, checks);
  }
  std::string text = "#include <string.h>\n#include <stdio.h>\n";
  for (const SampleModel& model : models) text += fmt::format("#include \"{}.h\"\n", model.name);
  text +=
      fmt::format("static unsigned char arena[{}] __attribute__((aligned(64)));\n", arena_bytes) +
      arrays + "int main(void) {\n  int turn;\n  for (turn = 0; turn < 3; ++turn) {\n" + calls +
      "  }\n  puts(\"equal\");\n  return 0;\n}\n";
  sources.harness.push_back({"main.c", text});
  const Result<toolchain::Execution> run =
      toolchain::build_and_run(*toolchain::find_board("c99"), sources,
                               {.compiler = "", .flags = {"-O1", "-fsanitize=address,undefined"}});
  ASSERT_TRUE(run.has_value()) << ::testing::PrintToString(run.error().front().notes);
  EXPECT_EQ(run->console, "equal\n") << run->exit_code;
}

}  // namespace
}  // namespace ingot::testing
