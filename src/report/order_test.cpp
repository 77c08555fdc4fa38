// SPDX-License-Identifier: Apache-2.0
#include "report/order.h"

#include <gtest/gtest.h>

#include "loop/text.h"

namespace ingot {
namespace {

// A runner over arena buffers of 4, 6 and 2 bytes; `calls` is its text.
loop::Program program_of(const std::string& calls) {
  const std::string text = R"(program p
buffer x int8[4] input align 1
buffer y int8[4] output align 1
buffer a int8[4] arena align 1
buffer b int8[6] arena align 1
buffer c int8[2] arena align 1
kernel move(from: int8[2] read align 1, to: int8[2] write align 1) "" {
  to[0] = from[0]
}
run {
)" + calls + "}\n";
  Result<loop::Program> program = loop::parse(text);
  EXPECT_TRUE(program.has_value()) << text;
  return *std::move(program);
}

struct Case {
  const char* calls;
  int64_t bound;
  bool chain;  // there is no other order
};

TEST(Order, BoundAndChain) {
  const Case cases[] = {
      {"call move(x, a)\ncall move(a, b)\ncall move(b, y)\n", 6, true},
      {"call move(x, a)\ncall move(x, c)\ncall move(a, y)\n", 4, false},
      {"call move(x, y)\n", 0, true},
  };
  for (const Case& one : cases) {
    const loop::Program program = program_of(one.calls);
    plan::Problem problem;
    std::vector<size_t> buffers;
    for (size_t b = 2; b < 5; ++b) {
      problem.buffers.push_back({program.buffers[b].name, {0, 1}, program.buffers[b].size_bytes()});
      buffers.push_back(b);
    }
    plan::Plan plan;
    plan.optimal = true;
    ArenaFacts arena{problem, plan, buffers, one.bound, 1};
    EXPECT_EQ(bound_of_any_order(program, arena), one.bound) << one.calls;
    EXPECT_TRUE(is_order_optimal(program, arena)) << one.calls;
    // Above the bound it takes a proof of the packing, and that there is no other order.
    arena.bytes = one.bound + 1;
    EXPECT_EQ(is_order_optimal(program, arena), one.chain) << one.calls;
    plan.optimal = false;
    EXPECT_FALSE(is_order_optimal(program, arena)) << one.calls;
  }
}

}  // namespace
}  // namespace ingot
