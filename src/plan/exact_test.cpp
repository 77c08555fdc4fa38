// SPDX-License-Identifier: Apache-2.0
// The exact searches against the oracle, which tries every offset.
#include <gtest/gtest.h>

#include <numeric>

#include "plan/bound.h"
#include "plan/canonical.h"
#include "plan/disjunctive.h"
#include "plan/greedy.h"
#include "plan/plan.h"
#include "plan/test_problems.h"

namespace ingot::plan {
namespace {

struct Case {
  const char* name;
  Features features;
  int64_t largest;  // size of a buffer
  int64_t rounds;
};

class Exact : public testing::TestWithParam<Case> {};

// 11,000 problems in all.
TEST_P(Exact, EqualsBruteForce) {
  const auto [name, features, largest, rounds] = GetParam();
  ProblemGenerator generator(11);
  int64_t above_load = 0;
  for (int64_t round = 0; round < rounds; ++round) {
    const Problem problem =
        generator.make(generator.pick(1, 7), generator.pick(2, 7), largest, features);
    // Mostly no climbing, so that the searches have more to do.
    const Plan plan =
        solve(problem, {.search_nodes = 100'000, .climb_steps = round % 4 == 3 ? 10 : 0});
    ASSERT_EQ(find_violation(problem, plan), "") << round;
    ASSERT_TRUE(plan.optimal) << round;
    ASSERT_FALSE(BruteForce(problem).fits(plan.pools[0].height_bytes - 1)) << round;
    above_load += plan.pools[0].height_bytes > plan.pools[0].load_bytes ? 1 : 0;
  }
  // Up to seven buffers of one byte's alignment always fit into their load.
  const bool plain =
      !features.alignments && !features.fixed && !features.groups && !features.overlaps;
  EXPECT_EQ(above_load > 0, !plain) << name;
}

// Bounds and heights are sound as well where the searches run out of nodes.
TEST_P(Exact, StatesNothingFalseOnFewNodes) {
  const auto [name, features, largest, rounds] = GetParam();
  ProblemGenerator generator(12);
  for (int64_t round = 0; round < rounds / 5; ++round) {
    const Problem problem =
        generator.make(generator.pick(4, 14), generator.pick(3, 12), largest, features);
    const Plan best = solve(problem, {.search_nodes = 5'000, .climb_steps = 0});
    ASSERT_EQ(find_violation(problem, best), "") << round;
    for (const int64_t nodes : {0, 1, 3, 10, 50}) {
      const Plan plan = solve(problem, {.search_nodes = nodes, .climb_steps = round % 5});
      ASSERT_EQ(find_violation(problem, plan), "") << round;
      for (size_t p = 0; p < plan.pools.size(); ++p) {
        ASSERT_LE(plan.pools[p].lower_bound_bytes, best.pools[p].height_bytes) << round;
        ASSERT_GE(plan.pools[p].height_bytes, best.pools[p].lower_bound_bytes) << round;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Features, Exact,
    testing::Values(Case{"Plain", {}, 5, 1500}, Case{"Aligned", {.alignments = true}, 5, 1500},
                    Case{"Fixed", {.fixed = true}, 5, 1000},
                    Case{"Groups", {.groups = true}, 5, 1000},
                    Case{"Overlaps", {.overlaps = true}, 5, 2000},
                    Case{"Dead", {.fixed = true, .groups = true, .dead = true}, 5, 1000},
                    Case{"Padded", {.alignments = true, .padded = true}, 19, 1000},
                    Case{"All", {true, true, true, true, true}, 5, 1000},
                    Case{"AllPadded", {true, true, true, true, true, true}, 13, 1000}),
    [](const auto& one) { return one.param.name; });

// The two searches share nothing but the instance.
TEST(Exact, CanonicalAndDisjunctiveAgree) {
  ProblemGenerator generator(3);
  int64_t above_load = 0;
  for (int64_t round = 0; round < 60; ++round) {
    const Problem problem = generator.make(generator.pick(8, 13), 9, 9,
                                           {.alignments = round % 3 == 1, .fixed = round % 3 == 2});
    std::vector<int64_t> all(problem.buffers.size());
    std::iota(all.begin(), all.end(), 0);
    const Instance instance(problem, all, {});
    Placement best = Placer(instance).place(sorted_items(instance, Order::kBegin), Fit::kFirst);
    const int64_t load = greatest_load(problem, all).bytes;
    ASSERT_NE(Disjunctive(instance).improve(best, load, 1'000'000), Verdict::kOutOfNodes);
    ASSERT_TRUE(Canonical::applies(instance));
    for (int64_t height = load; height <= best.height; ++height) {
      Canonical canonical(instance);
      const Verdict verdict = canonical.search(height, 1'000'000, round);
      ASSERT_EQ(verdict, height < best.height ? Verdict::kImpossible : Verdict::kPacked) << round;
    }
    above_load += best.height > load ? 1 : 0;
  }
  EXPECT_GT(above_load, 0);
}

// The order of the buffers and a shift in time change nothing; one more buffer never helps.
TEST(Exact, IsMonotoneAndSymmetric) {
  ProblemGenerator generator(5);
  for (int64_t round = 0; round < 100; ++round) {
    Problem problem = generator.make(12, 10, 9, {});
    const int64_t height = solve(problem).pools[0].height_bytes;
    std::ranges::reverse(problem.buffers);
    for (Buffer& buffer : problem.buffers) {
      buffer.lifetime.begin -= 77;
      buffer.lifetime.end -= 77;
    }
    EXPECT_EQ(solve(problem).pools[0].height_bytes, height);
    problem.buffers.pop_back();
    EXPECT_LE(solve(problem).pools[0].height_bytes, height);
  }
}

}  // namespace
}  // namespace ingot::plan
