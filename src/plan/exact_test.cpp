// SPDX-License-Identifier: Apache-2.0
// The exact searches against the oracle, which tries every offset.
#include <gtest/gtest.h>

#include <numeric>

#include "plan/bound.h"
#include "plan/disjunctive.h"
#include "plan/greedy.h"
#include "plan/plan.h"
#include "plan/skyline.h"
#include "plan/test_problems.h"

namespace ingot::plan {
namespace {

class Exact : public testing::TestWithParam<Features> {};

TEST_P(Exact, EqualsBruteForce) {
  ProblemGenerator generator(11);
  int64_t above_load = 0;
  for (int64_t round = 0; round < 250; ++round) {
    const Problem problem =
        generator.make(generator.pick(1, 7), generator.pick(2, 7), 5, GetParam());
    // No climbing, so that the searches have more to do.
    const Plan plan = solve(problem, {.search_nodes = 100'000, .climb_steps = 0});
    ASSERT_EQ(find_violation(problem, plan), "") << round;
    ASSERT_TRUE(plan.optimal) << round;
    ASSERT_EQ(plan.pools[0].height_bytes, BruteForce(problem).least_height()) << round;
    above_load += plan.pools[0].height_bytes > plan.pools[0].load_bytes ? 1 : 0;
  }
  // Up to seven plain buffers always fit into their load.
  const bool plain =
      !GetParam().alignments && !GetParam().fixed && !GetParam().groups && !GetParam().overlaps;
  EXPECT_EQ(above_load > 0, !plain);
}

INSTANTIATE_TEST_SUITE_P(Features, Exact,
                         testing::Values(Features{}, Features{.alignments = true},
                                         Features{.fixed = true}, Features{.groups = true},
                                         Features{.overlaps = true},
                                         Features{true, true, true, true}));

// The two searches share nothing but the instance.
TEST(Exact, SkylineAndDisjunctiveAgree) {
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
    ASSERT_TRUE(Skyline::applies(instance));
    for (int64_t height = load; height <= best.height; ++height) {
      Skyline skyline(instance);
      const Verdict verdict = skyline.search(height, 1'000'000, round);
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
