// SPDX-License-Identifier: Apache-2.0
// The guarantee at planner level. The legacy planner of tests/legacy, which had the fault, damages
// the caller's buffers on every network of guarantee_graphs.h; Ingot's storage never does, on them
// and on random programs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "loop/memory.h"
#include "loop/text.h"
#include "storage/storage.h"
#include "tests/guarantee/guarantee_graphs.h"
#include "tests/guarantee/random_program.h"
#include "tests/legacy/token_planner.h"
#include "tests/support/random.h"

namespace ingot::legacy {

void PrintTo(const OutputUse& use, std::ostream* out) {
  *out << "overrun by " << use.overrun_bytes << ", other types:";
  for (const DType dtype : use.other_dtypes) *out << " " << name_of(dtype);
  *out << (use.is_written ? "" : ", never written");
}

}  // namespace ingot::legacy

namespace ingot::testing {
namespace {

class OfGraph : public ::testing::TestWithParam<GuaranteeGraph> {};
INSTANTIATE_TEST_SUITE_P(Guarantee, OfGraph, ::testing::ValuesIn(guarantee_graphs()),
                         [](const auto& graph) { return graph.param.name; });

TEST_P(OfGraph, LegacyPlannerOverrunsTheCaller) {
  const legacy::TokenPlan plan = legacy::plan_tokens(graph_of(GetParam().text));
  EXPECT_EQ(plan.outputs, GetParam().legacy_outputs);
  int64_t overrun_bytes = 0;
  for (const legacy::OutputUse& use : plan.outputs) overrun_bytes += use.overrun_bytes;
  EXPECT_GT(overrun_bytes, 0);
}

// The rules that the model of the planner follows, each on the least graph that shows it.
TEST(LegacyPlanner, FollowsItsRules) {
  const struct {
    const char* rule;
    const char* text;
    std::vector<int64_t> token_bytes;  // inputs, constants, then as they are made
  } rows[] = {
      {"a free block of up to 16 times the size is taken",
       "x: int8[32] = input\na: int8[32] = copy() x\nb: int8[2] = copy() a\n"
       "c: int8[2] = copy() b\noutput c\n",
       {32, 32, 2}},
      {"one that is larger is not",
       "x: int8[33] = input\na: int8[33] = copy() x\nb: int8[2] = copy() a\n"
       "c: int8[2] = copy() b\noutput c\n",
       {33, 33, 2, 2}},
      {"a free block of down to a sixteenth is grown",
       "x: int8[2] = input\na: int8[2] = copy() x\nb: int8[1] = copy() a\n"
       "c: int8[32] = copy() b\noutput c\n",
       {2, 32, 1}},
      {"one that is smaller is not",
       "x: int8[2] = input\na: int8[2] = copy() x\nb: int8[1] = copy() a\n"
       "c: int8[48] = copy() b\noutput c\n",
       {2, 2, 1, 48}},
      {"larger before smaller, the nearest of each",
       "x: int8[9] = input\na: int8[9] = copy() x\nb: int8[7] = copy() x\nc: int8[8] = copy() x\n"
       "d: int8[1] = copy() a, b, c\ne: int8[8] = copy() d\nf: int8[8] = copy() d\n"
       "g: int8[8] = copy() d\noutput e\noutput f\noutput g\n",
       {9, 9, 8, 8, 1}},
      {"an output is not freed, an input and a constant neither",
       "x: int8[4] = input\nk: int8[4] = const {1,2,3,4}\na: int8[4] = copy() x\n"
       "b: int8[4] = copy() a, k\nc: int8[4] = copy() b\noutput a\noutput c\n",
       {4, 4, 4, 4, 4}},
      {"a reshape is its input, which lives as long as both are read",
       "x: int8[4] = input\na: int8[4] = copy() x\nv: int8[2,2] = reshape(shape={2,2}) a\n"
       "b: int8[4] = copy() a\nc: int8[4] = copy() v\nd: int8[4] = copy() c\noutput b\noutput d\n",
       {4, 4, 4, 4}},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(legacy::plan_tokens(graph_of(row.text)).token_bytes, row.token_bytes) << row.rule;
  }
}

// Few nodes: the heuristics, their bounds and the exact search all get to decide some plans.
constexpr plan::Limits kQuick = {.search_nodes = 50, .climb_steps = 5, .seconds = {}};

// The statements of a runner as text, sorted: two orders of the same calls are equal so.
std::vector<std::string> sorted_statements(const loop::Program& program) {
  std::vector<std::string> texts;
  for (const loop::Stmt& stmt : program.runner) texts.push_back(loop::print({stmt}));
  std::ranges::sort(texts);
  return texts;
}

void expect_sound(const Storage& storage, const loop::Program& program,
                  const StorageOptions& options) {
  EXPECT_EQ(plan::find_fault(storage.problem), "");
  EXPECT_EQ(plan::find_violation(storage.problem, storage.plan), "");
  // Whatever was planned, every buffer has the size, type and kind that the program gave it, and
  // the same kernels are called on the same buffers.
  EXPECT_EQ(sorted_statements(storage.program), sorted_statements(program));
  loop::Program without_offsets = storage.program;
  for (size_t b = 0; b < program.buffers.size(); ++b) {
    loop::Buffer& buffer = without_offsets.buffers.at(b);
    buffer.offset_bytes.reset();
    buffer.pool.clear();
    // What may be lent to asks for no more than its kernels do.
    EXPECT_LE(buffer.alignment, program.buffers[b].alignment);
    EXPECT_GE(buffer.alignment, size_in_bytes(buffer.dtype));
    buffer.alignment = program.buffers[b].alignment;
  }
  without_offsets.runner = program.runner;
  without_offsets.notes = program.notes;
  EXPECT_TRUE(loop::equal(without_offsets, program));
  for (size_t i = 0; i < storage.buffers.size(); ++i) {
    const loop::Buffer& buffer = storage.program.buffers.at(storage.buffers[i]);
    EXPECT_EQ(storage.problem.buffers.at(i).size_bytes, buffer.size_bytes());
    EXPECT_EQ(buffer.offset_bytes.value_or(0), storage.plan.offsets.at(i));
    const bool is_in_arena = buffer.offset_bytes && loop::lender_of(buffer).empty();
    const int64_t end = buffer.offset_bytes.value_or(0) + buffer.size_bytes();
    EXPECT_TRUE(!is_in_arena || end <= storage.arena_bytes);
  }
  for (const loop::Buffer& buffer : storage.program.buffers) {
    const bool is_io = is_input_or_output(buffer);
    const bool is_planned =
        buffer.kind == loop::BufferKind::kArena || (is_io && options.io_in_arena);
    EXPECT_EQ(buffer.offset_bytes.has_value(), is_planned) << buffer.name;
  }
}

// A07.
TEST(Storage, NoPlanOfRandomProgramsTouchesWhatIsNotIts) {
  int64_t num_shared_bytes = 0;
  for (uint64_t seed = 0; seed < 10000; ++seed) {
    const loop::Program program = random_program(seed);
    Random random(seed);
    const StorageOptions options = {.io_in_arena = random.chance(1, 2),
                                    .reuse_inputs = random.chance(1, 2),
                                    .scratch_in_outputs = random.chance(1, 2),
                                    .limits = kQuick};
    const Storage storage = place(program, {}, options);
    expect_sound(storage, program, options);
    // Once with the branches taken at random, once with all, once with none.
    for (const int64_t chance : {1, 2, 0}) {
      EXPECT_EQ(execution_fault(storage.program, options, seed, chance), "");
    }
    for (const plan::Buffer& buffer : storage.problem.buffers) {
      num_shared_bytes += buffer.size_bytes;
    }
    num_shared_bytes -= storage.arena_bytes;
    if (HasFailure()) {
      FAIL() << "seed " << seed << (options.io_in_arena ? ", io in arena" : "")
             << (options.reuse_inputs ? ", inputs reused" : "")
             << (options.scratch_in_outputs ? ", outputs lent" : "") << "\n"
             << loop::print(storage.program);
    }
  }
  // The plans are not sound for want of sharing.
  EXPECT_GT(num_shared_bytes, 100000);
}

// The judge of the test above finds what it is for.
TEST(Storage, ExecutionsShowOverwrittenBuffers) {
  const std::string text = R"(program net
buffer x int8[4] input align 1 offset 0 tensor "x" type int8[4]
buffer y int8[4] output align 1 offset 4 tensor "y" type int8[4]
buffer t int8[8] arena align 1 offset OFFSET
kernel k(y: int8[4] write align 1, x: int8[4] read align 1) "" { }
run {
  call k(t, x) note "a" copy macs 0 operators []
  call k(y, t) note "b" copy macs 0 operators []
  call k(t, x) note "c" copy macs 0 operators []
}
)";
  const struct {
    const char* offset;
    StorageOptions options;
    const char* fault;
  } rows[] = {{"8", {.io_in_arena = true}, ""},
              {"3", {.io_in_arena = true}, "call 0 reads x, which t has overwritten"},
              {"5", {.io_in_arena = true}, "call 1 reads t, which y has overwritten"},
              {"1", {.io_in_arena = false}, ""}};
  for (const auto& row : rows) {
    std::string with_offset = text;
    with_offset.replace(with_offset.find("OFFSET"), 6, row.offset);
    const Result<loop::Program> program = loop::parse(with_offset);
    ASSERT_TRUE(program.has_value()) << program.error().front().what;
    EXPECT_EQ(execution_fault(*program, row.options, 0, 2), row.fault) << row.offset;
  }
}

}  // namespace
}  // namespace ingot::testing
