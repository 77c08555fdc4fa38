// SPDX-License-Identifier: Apache-2.0
// Refutations of heights, against the exact search. That logs hold where they are replayed is the
// business of assay's tests.
#include "plan/refute.h"

#include <gtest/gtest.h>

#include <numeric>

#include "plan/test_problems.h"

namespace ingot::plan {
namespace {

TEST(Refutation, ExistsJustBelowTheLeastHeight) {
  const Features kinds[] = {{},
                            {.alignments = true},
                            {.groups = true},
                            {.overlaps = true},
                            {.alignments = true, .groups = true, .overlaps = true}};
  ProblemGenerator generator(21);
  int64_t with_decisions = 0;
  int64_t with_steps = 0;
  for (int64_t round = 0; round < 2'000; ++round) {
    const Problem problem = generator.make(generator.pick(2, 8), generator.pick(2, 7), 9,
                                           kinds[static_cast<size_t>(round % 5)]);
    const Plan plan = solve(problem, {.search_nodes = 100'000, .climb_steps = 0});
    ASSERT_TRUE(plan.optimal) << round;
    std::vector<int64_t> all(problem.buffers.size());
    std::iota(all.begin(), all.end(), 0);
    const int64_t least = plan.pools[0].height_bytes;
    const auto log = refutation(problem, all, least - 1, 100'000);
    ASSERT_TRUE(log.has_value()) << round;
    with_decisions += log->empty() ? 0 : 1;
    for (const Decision& d : *log) with_steps += d.step >= 0 ? 1 : 0;
    EXPECT_FALSE(refutation(problem, all, least, 100'000).has_value()) << round;
    if (!log->empty()) {
      EXPECT_FALSE(refutation(problem, all, least - 1, 2).has_value());
    }
  }
  EXPECT_GT(with_decisions, 50);
  EXPECT_GT(with_steps, 0);
}

}  // namespace
}  // namespace ingot::plan
