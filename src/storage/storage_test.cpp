// SPDX-License-Identifier: Apache-2.0
// Storage as text: a program, the buffers that the planner gets. Random programs are tried in
// tests/guarantee.
#include "storage/storage.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "loop/text.h"

namespace ingot {
namespace {

// "t0 8 align 4 [0,2) tie 0 +4", one line per buffer.
std::string text_of(const plan::Problem& problem) {
  std::string text;
  for (const plan::Buffer& b : problem.buffers) {
    text += fmt::format("{} {} align {} [{},{})", b.name, b.size_bytes, b.alignment,
                        b.lifetime.begin, b.lifetime.end);
    if (b.group >= 0) text += fmt::format(" tie {} +{}", b.group, b.group_offset);
    text += "\n";
  }
  return text;
}

// `buffers` and `runner` as a program. The kernels one, two and three take as many int8 pointers.
loop::Program program_of(const std::string& buffers, const std::string& runner) {
  const std::string text =
      "program net\n" + buffers +
      "kernel one(a: int8[1] update align 1) \"\" { }\n"
      "kernel two(a: int8[1] update align 1, b: int8[1] update align 1) \"\" { }\n"
      "kernel three(a: int8[1] update align 1, b: int8[1] update align 1, "
      "c: int8[1] update align 1) \"\" { }\n"
      "run {\n" +
      runner + "}\n";
  Result<loop::Program> program = loop::parse(text);
  if (!program) throw InternalError(program.error().front().what + "\n" + text);
  return *std::move(program);
}

const char* const kChainBuffers = R"(
buffer x int8[4] input align 1 tensor "x" type int8[4]
buffer y int8[2] output align 1 tensor "y" type int8[2]
buffer t0 int16[4] arena align 4
buffer t1 int8[3] arena align 1
buffer w int8[1] constant align 1 data 05
)";
const char* const kChain =
    "call two(t0, x)\ncall three(t1, t0, w)\ncall two(y, t1)\n"
    "call two(t0, y)\n";

struct Case {
  const char* title;
  StorageOptions options;
  const char* buffers;
  const char* runner;
  const char* problem;
};

const Case kCases[] = {
    {"the caller's buffers and constants are not planned",
     {},
     kChainBuffers,
     kChain,
     "t0 8 align 4 [0,4)\n"
     "t1 3 align 1 [1,3)\n"},
    {"inputs that may be overwritten once they are read are memories of their own",
     {.reuse_inputs = true},
     kChainBuffers,
     kChain,
     "t0 8 align 4 [0,4)\n"
     "t1 3 align 1 [1,3)\n"
     "x 4 align 1 [0,1)\n"},
    {"in the arena an input lives from start to end, an output from its first touch to the end",
     {.io_in_arena = true},
     kChainBuffers,
     kChain,
     "x 4 align 1 [0,4)\n"
     "y 2 align 1 [2,4)\n"
     "t0 8 align 4 [0,4)\n"
     "t1 3 align 1 [1,3)\n"},
    {"with inputs reused, an input lives to its last reader",
     {.io_in_arena = true, .reuse_inputs = true},
     kChainBuffers,
     kChain,
     "x 4 align 1 [0,1)\n"
     "y 2 align 1 [2,4)\n"
     "t0 8 align 4 [0,4)\n"
     "t1 3 align 1 [1,3)\n"},
    {"an input that nobody reads must not lie on what is written first, an output not on anything",
     {.io_in_arena = true, .reuse_inputs = true},
     "buffer x int8[4] input align 1 tensor \"x\" type int8[4]\n"
     "buffer y int8[2] output align 1 tensor \"y\" type int8[2]\n"
     "buffer t int8[4] arena align 1\n",
     "call one(t)\ncall one(t)\n",
     "x 4 align 1 [0,1)\n"
     "y 2 align 1 [0,2)\n"
     "t 4 align 1 [0,2)\n"},
    {"a program without calls",
     {.io_in_arena = true},
     "buffer x int8[4] input align 1 tensor \"x\" type int8[4]\n"
     "buffer y int8[2] output align 1 tensor \"y\" type int8[2]\n",
     "",
     "x 4 align 1 [0,1)\n"
     "y 2 align 1 [0,1)\n"},
    {"what a loop touches is alive for the whole loop, what a branch touches from there",
     {},
     "buffer a int8[4] arena align 1\nbuffer b int8[4] arena align 1\n"
     "buffer c int8[4] arena align 1\nbuffer d int8[4] arena align 1\n",
     "call one(a)\n"
     "for i = 0 to 3 {\ncall two(b, a)\nfor j = 0 to 2 {\ncall one(c)\n}\ncall one(b)\n}\n"
     "if 0 < 1 {\ncall one(d)\n} else {\ncall one(d)\n}\n"
     "call one(d)\n",
     "a 4 align 1 [0,4)\n"
     "b 4 align 1 [1,4)\n"
     "c 4 align 1 [1,4)\n"
     "d 4 align 1 [4,7)\n"},
    {"tied pieces live as long as the whole that is read behind them",
     {},
     "buffer a int8[4] arena align 1 tie 0 0\nbuffer b int8[2] arena align 1 tie 0 4\n"
     "buffer whole int8[6] arena align 4 tie 0 0\nbuffer t int8[9] arena align 1\n",
     "call one(a)\ncall one(b)\ncall one(t)\ncall two(t, whole)\n",
     "a 4 align 1 [0,4) tie 0 +0\n"
     "b 2 align 1 [1,4) tie 0 +4\n"
     "whole 6 align 4 [3,4) tie 0 +0\n"
     "t 9 align 1 [2,4)\n"},
    {"pieces of pieces too, and a piece that is read after the whole",
     {},
     "buffer a int8[4] arena align 1 tie 0 0\nbuffer b int8[2] arena align 1 tie 0 4\n"
     "buffer ab int8[6] arena align 1 tie 0 0\nbuffer c int8[1] arena align 1 tie 0 6\n"
     "buffer abc int8[7] arena align 4 tie 0 0\nbuffer t int8[9] arena align 1\n",
     "call one(a)\ncall one(b)\ncall one(c)\ncall two(t, abc)\ncall two(t, c)\n",
     "a 4 align 1 [0,4) tie 0 +0\n"
     "b 2 align 1 [1,4) tie 0 +4\n"
     "ab 6 align 1 [0,0) tie 0 +0\n"
     "c 1 align 1 [2,5) tie 0 +6\n"
     "abc 7 align 4 [3,4) tie 0 +0\n"
     "t 9 align 1 [3,5)\n"},
    {"a part that is only read lives from the first write of what contains it",
     {},
     "buffer whole int8[8] arena align 4 tie 0 0\nbuffer part int8[2] arena align 1 tie 0 4\n"
     "buffer t int8[4] arena align 1\n",
     "call one(whole)\ncall one(t)\ncall two(t, part)\n",
     "whole 8 align 4 [0,1) tie 0 +0\n"
     "part 2 align 1 [0,3) tie 0 +4\n"
     "t 4 align 1 [1,3)\n"},
    {"a piece that is the whole of a tied group lives as long, too",
     {},
     "buffer a int8[4] arena align 1 tie 0 0\nbuffer whole int8[4] arena align 4 tie 0 0\n"
     "buffer t int8[4] arena align 1\n",
     "call one(a)\ncall one(t)\ncall two(t, whole)\n",
     "a 4 align 1 [0,3) tie 0 +0\n"
     "whole 4 align 4 [0,3) tie 0 +0\n"
     "t 4 align 1 [1,3)\n"},
};

TEST(MakeProblem, Lifetimes) {
  for (const Case& row : kCases) {
    const Storage storage = make_problem(program_of(row.buffers, row.runner), {}, row.options);
    EXPECT_EQ(text_of(storage.problem), row.problem) << row.title;
    ASSERT_EQ(storage.buffers.size(), storage.problem.buffers.size()) << row.title;
    for (size_t i = 0; i < storage.buffers.size(); ++i) {
      EXPECT_EQ(storage.program.buffers.at(storage.buffers[i]).name,
                storage.problem.buffers[i].name);
    }
  }
}

TEST(Place, GivesOffsetsToWhatLiesInTheArena) {
  const loop::Program program = program_of(kChainBuffers, kChain);
  const Storage by_caller = place(program, {}, {});
  EXPECT_EQ(by_caller.num_steps, 4);
  EXPECT_EQ(by_caller.arena_bytes, 11);
  EXPECT_EQ(by_caller.arena_alignment, 4);
  for (const char* name : {"x", "y", "w"}) {
    EXPECT_FALSE(loop::find_buffer(by_caller.program, name)->offset_bytes.has_value()) << name;
  }
  for (const char* name : {"t0", "t1"}) {
    EXPECT_TRUE(loop::find_buffer(by_caller.program, name)->offset_bytes.has_value()) << name;
  }

  // y takes the place of x, which is dead by then.
  const Storage in_arena = place(program, {}, {.io_in_arena = true, .reuse_inputs = true});
  EXPECT_EQ(in_arena.arena_bytes, 13);
  EXPECT_FALSE(loop::find_buffer(in_arena.program, "w")->offset_bytes.has_value());
}

// "t0 fast 0": buffer, pool ("arena" for none), offset.
std::string places_text(const Storage& storage) {
  std::string text;
  for (const loop::Buffer& b : storage.program.buffers) {
    if (!b.offset_bytes) continue;
    text += fmt::format("{} {} {}\n", b.name, b.pool.empty() ? "arena" : b.pool, *b.offset_bytes);
  }
  return text;
}

TEST(Place, FillsPoolsInTheirOrder) {
  const loop::Program program = program_of(
      "buffer t0 int16[4] arena align 4 tensor \"a\"\nbuffer t1 int8[3] arena align 1 tensor "
      "\"b\"\n",
      "call two(t0, t1)\ncall two(t1, t0)\n");
  const struct {
    StorageOptions options;
    const char* places;
    int64_t arena_bytes;
  } rows[] = {
      {{.pools = {{"fast", 16}}}, "t0 fast 0\nt1 fast 8\n", 0},
      {{.pools = {{"fast", 8}}}, "t0 fast 0\nt1 arena 0\n", 3},
      {{.pools = {{"fast", 7}, {"slow", 8}}}, "t0 slow 0\nt1 fast 0\n", 0},
      {{.pools = {{"fast", 2}}}, "t0 arena 0\nt1 arena 8\n", 11},
      {{.pools = {{"fast", 16}}, .places = {{"a", "arena"}}}, "t0 arena 0\nt1 fast 0\n", 8},
      {{.pools = {{"fast", 16}, {"slow", 16}}, .places = {{"b", "slow"}}},
       "t0 fast 0\nt1 slow 0\n",
       0},
  };
  for (const auto& row : rows) {
    const Storage storage = place(program, {}, row.options);
    EXPECT_EQ(places_text(storage), row.places);
    EXPECT_EQ(storage.arena_bytes, row.arena_bytes);
    EXPECT_TRUE(storage.plan.fits);
    EXPECT_TRUE(find_fault_of_places(program, row.options).empty());
  }
  const Storage pinned = place(program, {}, {.pools = {{"fast", 4}}, .places = {{"a", "fast"}}});
  EXPECT_FALSE(pinned.plan.fits);
}

TEST(Place, FaultsOfPlaces) {
  const loop::Program program = program_of(
      "buffer x int8[4] input align 1 tensor \"x\" type int8[4]\n"
      "buffer a int8[3] arena align 1 tie 0 0 tensor \"a\"\n"
      "buffer b int8[2] arena align 1 tie 0 3 tensor \"b\"\n",
      "call three(a, b, x)\n");
  const std::vector<PoolOption> pools = {{"fast", 16}, {"slow", 16}};
  const struct {
    std::map<std::string, std::string> places;
    const char* what;
  } rows[] = {{{{"x", "fast"}}, "which no inner buffer holds"},
              {{{"a", "none"}}, "which no --pool defines"},
              {{{"a", "fast"}, {"b", "slow"}}, "apart from what it is a part of"}};
  for (const auto& row : rows) {
    const Diagnostics faults =
        find_fault_of_places(program, {.pools = pools, .places = row.places});
    ASSERT_EQ(faults.size(), 1U) << row.what;
    EXPECT_THAT(faults[0].what, testing::HasSubstr(row.what));
  }
  // Tied buffers follow one another.
  const Storage storage = place(program, {}, {.pools = pools, .places = {{"b", "slow"}}});
  EXPECT_EQ(places_text(storage), "a slow 0\nb slow 3\n");
  // In the arena, inputs and outputs stay there.
  const Storage io = place(program, {}, {.io_in_arena = true, .pools = pools});
  EXPECT_EQ(places_text(io), "x arena 0\na fast 0\nb fast 3\n");
}

TEST(Place, KeepsTheDistancesOfTiedBuffers) {
  const Storage storage =
      place(program_of("buffer a int8[3] arena align 1 tie 0 0\n"
                       "buffer b int8[2] arena align 1 tie 0 3\n"
                       "buffer whole int8[5] arena align 4 tie 0 0\n"
                       "buffer t int8[9] arena align 1\n",
                       "call one(t)\ncall two(a, t)\ncall two(b, t)\ncall one(whole)\n"),
            {}, {});
  const int64_t whole = loop::find_buffer(storage.program, "whole")->offset_bytes.value();
  EXPECT_EQ(whole % 4, 0);
  EXPECT_EQ(loop::find_buffer(storage.program, "a")->offset_bytes, whole);
  EXPECT_EQ(loop::find_buffer(storage.program, "b")->offset_bytes, whole + 3);
  EXPECT_EQ(storage.arena_bytes, 14);
}

TEST(Place, EmptyPrograms) { EXPECT_EQ(place(loop::Program(), {}, {}).arena_bytes, 0); }

}  // namespace
}  // namespace ingot
