// SPDX-License-Identifier: Apache-2.0
// Several pools: what does not fit moves on, and what stays is compared with the best assignment.
#include "plan/spill.h"

#include <gtest/gtest.h>

#include "plan/test_problems.h"

namespace ingot::plan {
namespace {

// The bytes that lie in the pools they like best.
int64_t bytes_where_liked(const Problem& problem, const std::vector<int64_t>& pool_of) {
  int64_t bytes = 0;
  for (size_t b = 0; b < pool_of.size(); ++b)
    if (pool_of[b] == problem.buffers[b].pools.front()) bytes += problem.buffers[b].size_bytes;
  return bytes;
}

// `problem` with only the buffers of one pool.
Problem only_pool(const Problem& problem, const std::vector<int64_t>& pool_of, int64_t pool) {
  Problem part = problem;
  for (size_t b = 0; b < pool_of.size(); ++b)
    if (pool_of[b] != pool) part.buffers[b].size_bytes = 0;
  return part;
}

// The most bytes where they are liked best, over all assignments of buffers to pools 0 and 1 that
// fit; nothing if none does.
std::optional<int64_t> best_by_brute_force(const Problem& problem) {
  std::optional<int64_t> best;
  const size_t n = problem.buffers.size();
  for (uint64_t mask = 0; mask < uint64_t{1} << n; ++mask) {
    std::vector<int64_t> pool_of(n);
    for (size_t b = 0; b < n; ++b) pool_of[b] = static_cast<int64_t>(mask >> b & 1U);
    const int64_t bytes = bytes_where_liked(problem, pool_of);
    if (best && bytes <= *best) continue;
    bool fits = true;
    for (size_t p = 0; p < 2 && fits; ++p) {
      const Problem part = only_pool(problem, pool_of, static_cast<int64_t>(p));
      fits = BruteForce(part).fits(problem.pools[p].capacity_bytes.value_or(40));
    }
    if (fits) best = bytes;
  }
  return best;
}

// Buffers that like the pool "fast" of `capacity` bytes best, and then the arena.
Problem with_fast_pool(Problem problem, int64_t capacity, std::optional<int64_t> arena) {
  problem.pools = {{"arena", arena}, {"fast", capacity}};
  for (Buffer& buffer : problem.buffers) buffer.pools = {1, 0};
  return problem;
}

TEST(Spill, EqualsBruteForceOrNearlySo) {
  ProblemGenerator generator(21);
  int64_t kept = 0;
  int64_t best = 0;
  int64_t spilled = 0;
  for (int64_t round = 0; round < 400; ++round) {
    const Features features{.alignments = round % 3 == 1, .overlaps = round % 3 == 2};
    const Problem problem = with_fast_pool(generator.make(generator.pick(1, 6), 6, 5, features),
                                           generator.pick(0, 10), {});
    const Plan plan = solve(problem);
    ASSERT_EQ(find_violation(problem, plan), "") << round;
    ASSERT_TRUE(plan.fits) << round;
    const std::optional<int64_t> most = best_by_brute_force(problem);
    ASSERT_TRUE(most.has_value());
    const int64_t own = bytes_where_liked(problem, plan.pool_of);
    int64_t all = 0;
    for (const Buffer& buffer : problem.buffers) all += buffer.size_bytes;
    ASSERT_LE(own, *most) << round;
    ASSERT_TRUE(*most < all || own == all) << round << ": all fit";
    spilled += *most < all ? 1 : 0;
    kept += own;
    best += *most;
  }
  EXPECT_GT(spilled, 100);
  EXPECT_GE(kept * 100, best * 95) << kept << " of " << best;
}

TEST(Spill, FindsMostPlansThatFitBoundedPools) {
  ProblemGenerator generator(22);
  int64_t possible = 0;
  int64_t found = 0;
  for (int64_t round = 0; round < 300; ++round) {
    const int64_t fast = generator.pick(2, 8);
    const Problem problem = with_fast_pool(generator.make(6, 6, 5, {}), fast, generator.pick(2, 8));
    const Plan plan = solve(problem);
    ASSERT_EQ(find_violation(problem, plan), "") << round;
    const bool fits = best_by_brute_force(problem).has_value();
    ASSERT_TRUE(fits || !plan.fits) << round;
    possible += fits ? 1 : 0;
    found += plan.fits ? 1 : 0;
  }
  EXPECT_GT(possible, 50);
  EXPECT_LT(possible, 300);
  EXPECT_GE(found * 100, possible * 80) << found << " of " << possible;
}

TEST(Spill, PlansOfManyPoolsAreValid) {
  ProblemGenerator generator(23);
  for (int64_t round = 0; round < 300; ++round) {
    Problem problem = generator.make(generator.pick(1, 60), 20, 40, {true, false, true, true});
    problem.pools = {{"arena"}, {"a", generator.pick(0, 60)}, {"b", generator.pick(0, 60)}};
    std::map<int64_t, std::vector<int64_t>> of_group;
    const std::vector<std::vector<int64_t>> wishes = {{}, {1, 0}, {1, 2, 0}, {2, 1, 0}, {2, 0}};
    for (Buffer& buffer : problem.buffers) {
      buffer.pools = wishes[static_cast<size_t>(generator.pick(0, 4))];
      if (buffer.group >= 0)
        buffer.pools = of_group.emplace(buffer.group, buffer.pools).first->second;
    }
    const Plan plan = solve(problem, {.search_nodes = 100, .climb_steps = 5});
    ASSERT_EQ(find_violation(problem, plan), "") << round;
    EXPECT_TRUE(plan.fits) << round;
    EXPECT_EQ(plan, solve(problem, {.search_nodes = 100, .climb_steps = 5}));
  }
}

TEST(Spill, WhatLeaves) {
  const Problem problem = with_fast_pool(
      {{{"early", {0, 2}, 6}, {"small", {1, 4}, 3}, {"large", {1, 4}, 5}, {"pinned", {1, 4}, 2}}},
      10, {});
  const std::vector<Unit> units = units_of(problem);
  const std::vector<int64_t> all = {0, 1, 2, 3};
  const auto leaving = [&](int64_t capacity, const std::vector<bool>& may_leave) {
    return overfull_units(problem, units, all, capacity, may_leave);
  };
  EXPECT_EQ(leaving(16, {true, true, true, true}), (std::vector<int64_t>{}));
  // Six bytes too many at time 1: `early` alone frees them.
  EXPECT_EQ(leaving(10, {true, true, true, false}), (std::vector<int64_t>{0}));
  EXPECT_EQ(leaving(10, {false, true, true, false}), (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(leaving(2, {true, true, true, false}), (std::vector<int64_t>{0, 1, 2}));
  EXPECT_EQ(leaving(1, {true, true, true, false}), (std::vector<int64_t>{0, 1, 2}));
}

TEST(Spill, PinnedBuffersStayAndThePlanSaysThatItDoesNotFit) {
  Problem problem{{{"a", {0, 2}, 4, 1, {}, {1}}, {"b", {0, 2}, 6, 1, {}, {1, 0}}}};
  problem.pools = {{"arena"}, {"fast", 8}};
  const Plan plan = solve(problem);
  EXPECT_EQ(find_violation(problem, plan), "");
  EXPECT_EQ(plan.pool_of, (std::vector<int64_t>{1, 0}));
  EXPECT_TRUE(plan.fits);
  EXPECT_FALSE(plan.optimal);
  problem.buffers[0].size_bytes = 9;
  EXPECT_FALSE(solve(problem).fits);
  problem.buffers[0].size_bytes = 2;
  EXPECT_EQ(solve(problem).pool_of, (std::vector<int64_t>{1, 1}));
  EXPECT_TRUE(solve(problem).optimal);
}

TEST(Spill, IsNearLinear) {
  ProblemGenerator generator(24);
  Problem problem = generator.make(10'000, 10'000, 40, {});
  for (Buffer& buffer : problem.buffers)
    buffer.lifetime.end = buffer.lifetime.begin + generator.pick(1, 8);
  problem = with_fast_pool(std::move(problem), 60, {});
  const Plan plan = solve(problem, {.search_nodes = 100, .climb_steps = 2});
  EXPECT_EQ(find_violation(problem, plan), "");
  EXPECT_TRUE(plan.fits);
}

}  // namespace
}  // namespace ingot::plan
