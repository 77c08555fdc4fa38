// SPDX-License-Identifier: Apache-2.0
// The boundary: find_fault, find_violation, and solve against the oracle.
#include "plan/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plan/bound.h"
#include "plan/congruence.h"
#include "plan/test_problems.h"

namespace ingot::plan {
namespace {

using testing::HasSubstr;

TEST(FindFault, NamesWhatIsWrong) {
  const Buffer ok{"ok", {0, 2}, 8};
  const struct {
    Problem problem;
    const char* fault;
  } rows[] = {
      {{{ok}}, ""},
      {{{{"a", {0, 2}, -1}}}, "a has a negative size"},
      {{{{"a", {2, 0}, 1}}}, "a dies before it is born"},
      {{{{"a", {0, 2}, 1, 0}}}, "a has an alignment out of range"},
      {{{{"a", {0, 2}, 1, 4, 2}}}, "a has a fixed offset that breaks its alignment"},
      {{{{"a", {0, 2}, 1, 1, {}, {3}}}}, "a names a pool that does not exist"},
      {{{{"a", {0, 2}, int64_t{1} << 47}, {"b", {0, 2}, int64_t{1} << 47}, ok}},
       "the buffers together are too large"},
      {{{{"a", {0, 2}, 1, 4}}, {{"p", {}, 2}}}, "a needs more alignment than a pool of it has"},
      {{{{"a", {0, 2}, 1, 4, {}, {}, 7, 0}, {"b", {0, 2}, 1, 4, {}, {}, 7, 2}}},
       "a and b are tied and their alignments contradict each other"},
      {{{{"a", {0, 2}, 1, 1, 0, {}, 7, 2}, {"b", {0, 2}, 1, 1, {}, {}, 7, 0}}},
       "a fixed offset puts the group of a below zero"},
      {{{{"a", {0, 2}, 4, 1, 0}, {"b", {1, 3}, 4, 1, 2}}}, "the fixed offsets of a and b overlap"},
      {{{ok}, {{"p"}}, {{0, 1}}}, "an overlap names a buffer that does not exist"},
      {{{ok, ok}, {{"p"}}, {{0, 1}, {1, 0}}}, "ok and ok have two overlaps"},
  };
  for (const auto& row : rows) EXPECT_EQ(find_fault(row.problem), row.fault);
}

// A plan for one pool, with the claims that go with it.
Plan plan_of(std::vector<int64_t> offsets, PoolPlan pool) {
  Plan plan;
  plan.offsets = std::move(offsets);
  plan.pool_of.assign(plan.offsets.size(), 0);
  plan.pools = {std::move(pool)};
  return plan;
}

TEST(FindViolation, EveryRule) {
  const Problem two{{{"a", {0, 2}, 4}, {"b", {1, 3}, 4, 4}}};
  const std::vector<int64_t> both = {0, 1};
  const struct {
    Plan plan;
    const char* violation;
  } rows[] = {
      {plan_of({0, 4}, {8, 8, 8, 1, both, false, true}), ""},
      {plan_of({0}, {8, 8, 8, 1, both}), "the plan does not have one offset and one pool"},
      {plan_of({0, 5}, {9, 8, 8, 1, both}), "b is misaligned"},
      {plan_of({-4, 4}, {8, 8, 8, 1, both}), "a has a negative offset"},
      {plan_of({3, 4}, {8, 8, 8, 1, both}), "a and b are alive together and overlap"},
      {plan_of({0, 8}, {8, 8, 8, 1, both}), "b ends above the height"},
      {plan_of({0, 4}, {9, 8, 8, 1, both}), "pool 0 is 8 bytes high, not 9"},
      {plan_of({0, 4}, {8, 8, 8, 0, both}), "the witness of pool 0 is not the live set"},
      {plan_of({0, 4}, {8, 8, 7, 1, both}), "the witness of pool 0 needs 8 bytes, not 7"},
      {plan_of({0, 8}, {12, 10, 8, 1, both}), "the lower bound of pool 0 has no witness"},
      {plan_of({0, 8}, {12, 8, 8, 1, both, false, true}), "pool 0 is called optimal above"},
  };
  for (const auto& row : rows) EXPECT_THAT(find_violation(two, row.plan), HasSubstr(row.violation));
}

TEST(FindViolation, OverlapsHaveADirection) {
  // The input of 6 bytes dies in the step that makes the output of 4.
  Problem problem{{{"out", {1, 3}, 4}, {"in", {0, 2}, 6}}, {{"p"}}, {{0, 1, 9, 1, 3}}};
  const PoolPlan claims{9, 0, 0, 5, {}};  // no bound claimed at a time when nothing lives
  const struct {
    int64_t out, in;
    Direction direction;
    bool right;
  } rows[] = {{3, 3, Direction::kForward, false}, {2, 3, Direction::kForward, true},
              {5, 3, Direction::kForward, false}, {5, 3, Direction::kReverse, false},
              {5, 2, Direction::kReverse, true},  {2, 3, Direction::kReverse, false}};
  for (const auto& row : rows) {
    Plan plan = plan_of({row.out, row.in}, claims);
    plan.pools[0].height_bytes = std::max(row.out + 4, row.in + 6);
    plan.directions = {{9, row.direction}};
    EXPECT_EQ(find_violation(problem, plan).empty(), row.right) << row.out << " " << row.in;
  }
}

TEST(Load, CountsOverlapsAlignmentAndGroups) {
  const auto load = [](const Problem& problem) {
    std::vector<int64_t> all;
    for (size_t b = 0; b < problem.buffers.size(); ++b) all.push_back(static_cast<int64_t>(b));
    return greatest_load(problem, all).bytes;
  };
  EXPECT_EQ(load({{{"a", {0, 2}, 5, 4}, {"b", {1, 3}, 6, 4}, {"c", {2, 4}, 1, 4}}}), 13);
  // In place: the output may start where the input starts.
  EXPECT_EQ(load({{{"o", {1, 3}, 4}, {"i", {0, 2}, 6}}, {{"p"}}, {{0, 1, 0, 0}}}), 6);
  // Two inputs die and the output fits into both together: no more than itself is saved.
  EXPECT_EQ(load({{{"o", {1, 3}, 4}, {"i", {0, 2}, 4}, {"j", {0, 2}, 4}},
                  {{"p"}},
                  {{0, 1, 0, 0}, {0, 2, 0, 0}}}),
            8);
  EXPECT_EQ(load({{{"a", {0, 2}, 4, 1, {}, {}, 1, -4}, {"b", {0, 2}, 6, 1, {}, {}, 1, -2}}}), 8);
}

TEST(Congruence, AgreesWithCounting) {
  for (int64_t a = 1; a <= 12; ++a) {
    for (int64_t b = 1; b <= 12; ++b) {
      for (int64_t r = 0; r < a; ++r) {
        for (int64_t s = 0; s < b; ++s) {
          const std::optional<Congruence> both = intersect({r, a}, {s, b});
          std::optional<int64_t> least;
          for (int64_t x = a * b - 1; x >= 0; --x)
            if (x % a == r && x % b == s) least = x;
          ASSERT_EQ(both.has_value(), least.has_value());
          if (both) {
            ASSERT_EQ(both->residue, *least);
          }
        }
      }
    }
  }
}

class Solve : public testing::TestWithParam<Features> {};

TEST_P(Solve, PlansAreValidAndBoundsAreTrue) {
  ProblemGenerator generator(7);
  for (int64_t round = 0; round < 100; ++round) {
    const Problem problem = generator.make(generator.pick(1, 60), 20, 40, GetParam());
    const Plan plan = solve(problem, {.search_nodes = 100, .climb_steps = 20});
    ASSERT_EQ(find_violation(problem, plan), "") << round;
  }
}

INSTANTIATE_TEST_SUITE_P(Features, Solve,
                         testing::Values(Features{}, Features{.alignments = true},
                                         Features{.fixed = true}, Features{.groups = true},
                                         Features{.overlaps = true},
                                         Features{true, true, true, true}));

}  // namespace
}  // namespace ingot::plan
