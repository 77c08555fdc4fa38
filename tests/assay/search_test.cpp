// SPDX-License-Identifier: Apache-2.0
// Logs of failed searches: those of the planner hold where assay replays them, for random problems
// whose least height brute force knows, and no log makes a possible height impossible.
#include "assay/search.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <numeric>

#include "plan/refute.h"
#include "plan/test_problems.h"
#include "report/json_text.h"

namespace ingot::testing {
namespace {

// The problem as assay sees it. Offsets say what the places of an item leave when divided by its
// alignment, so those of a plan are given.
class Judged {
 public:
  Judged(const plan::Problem& problem, const plan::Plan& plan,
         const std::vector<plan::Decision>& log)
      : json_(json_of(problem, log)) {
    for (size_t b = 0; b < problem.buffers.size(); ++b) {
      const plan::Buffer& buffer = problem.buffers[b];
      assay::Buffer& copy = buffers_.emplace_back();
      copy.name = buffer.name;
      copy.size_bytes = buffer.size_bytes;
      copy.kind = "arena";
      copy.alignment = buffer.alignment;
      copy.offset_bytes = plan.offsets[b];
      copy.tie_group = buffer.group;
      copy.tie_offset_bytes = buffer.group_offset;
    }
    for (size_t b = 0; b < problem.buffers.size(); ++b) {
      const plan::Interval life = problem.buffers[b].lifetime;
      const int64_t group = problem.buffers[b].group;
      const auto first = std::ranges::find(problem.buffers, group, &plan::Buffer::group);
      layout_.lives.push_back(
          {.buffer = &buffers_[b],
           .region = &arena_,
           .begin = life.begin,
           .end = life.end,
           .unit = group < 0 ? b : static_cast<size_t>(first - problem.buffers.begin())});
    }
    for (const plan::Overlap& o : problem.overlaps) {
      assay::Pair pair = {.output = static_cast<size_t>(o.output),
                          .input = static_cast<size_t>(o.input),
                          .step = o.step,
                          .is_stated = true};
      pair.stated = {o.forward.value_or(buffers_[pair.output].size_bytes),
                     o.reverse.value_or(buffers_[pair.input].size_bytes)};
      pairs_.resize(std::max(pairs_.size(), static_cast<size_t>(o.step) + 1));
      pairs_[static_cast<size_t>(o.step)].push_back(pair);
    }
  }

  bool is_refuted(int64_t height) const { return assay::is_refuted(layout_, pairs_, height); }

 private:
  static assay::Json json_of(const plan::Problem& problem, const std::vector<plan::Decision>& log) {
    Json search = Json::array();
    for (const plan::Decision& d : log) {
      search.push_back(d.step >= 0 ? Json(d.step) : Json({d.first, d.second}));
    }
    Json buffers = Json::array();
    for (const plan::Buffer& b : problem.buffers) buffers.push_back({{"name", b.name}});
    const Json json = {{"plan", {{"buffers", buffers}, {"witness", {{"search", search}}}}}};
    return *assay::parse_json(json.dump());
  }

  assay::Json json_;
  std::vector<assay::Buffer> buffers_;
  assay::Region arena_;
  assay::Layout layout_{.json = json_};
  assay::Pairs pairs_;
};

// A step is a point in time, as in programs.
plan::Problem made(plan::ProblemGenerator& generator, int64_t n, int64_t span, int64_t largest,
                   plan::Features features) {
  plan::Problem problem = generator.make(n, span, largest, features);
  for (plan::Overlap& o : problem.overlaps)
    o.step = problem.buffers[static_cast<size_t>(o.output)].lifetime.begin;
  return problem;
}

class Logs : public ::testing::Test {
 protected:
  bool holds(const plan::Problem& problem, const plan::Plan& plan, int64_t height,
             const std::vector<plan::Decision>& log) const {
    return Judged(problem, plan, log).is_refuted(height);
  }
};

TEST_F(Logs, OfThePlannerHold) {
  const plan::Features kinds[] = {{},
                                  {.alignments = true},
                                  {.groups = true},
                                  {.overlaps = true},
                                  {.alignments = true, .groups = true, .overlaps = true}};
  plan::ProblemGenerator generator(31);
  int64_t with_decisions = 0;
  for (int64_t round = 0; round < 3'000; ++round) {
    const plan::Problem problem = made(generator, generator.pick(2, 7), generator.pick(2, 7), 9,
                                       kinds[static_cast<size_t>(round % 5)]);
    const plan::Plan plan = plan::solve(problem, {.search_nodes = 100'000, .climb_steps = 0});
    ASSERT_TRUE(plan.optimal);
    std::vector<int64_t> all(problem.buffers.size());
    std::iota(all.begin(), all.end(), 0);
    const int64_t least = plan.pools[0].height_bytes;
    auto log = plan::refutation(problem, all, least - 1, 100'000);
    ASSERT_TRUE(log.has_value()) << round;
    EXPECT_TRUE(holds(problem, plan, least - 1, *log)) << round;
    // No log at all shows that the least height is impossible.
    EXPECT_FALSE(holds(problem, plan, least, *log)) << round;
    EXPECT_FALSE(holds(problem, plan, least, {})) << round;
    if (log->empty()) continue;
    ++with_decisions;
    // One decision too few, and one too many.
    const plan::Decision last = log->back();
    log->pop_back();
    EXPECT_FALSE(holds(problem, plan, least - 1, *log)) << round;
    log->insert(log->end(), 2, last);
    EXPECT_FALSE(holds(problem, plan, least - 1, *log)) << round;
  }
  EXPECT_GT(with_decisions, 50);
}

TEST_F(Logs, MadeUpOnesShowNothing) {
  plan::ProblemGenerator generator(32);
  for (int64_t round = 0; round < 2'000; ++round) {
    const plan::Problem problem =
        made(generator, generator.pick(3, 6), 4, 7, {.alignments = true, .overlaps = true});
    const plan::Plan plan = plan::solve(problem, {.search_nodes = 100'000, .climb_steps = 0});
    const auto n = static_cast<int64_t>(problem.buffers.size());
    std::vector<plan::Decision> log;
    for (int64_t i = generator.pick(1, 12); i > 0; --i) {
      if (generator.pick(0, 3) == 0) {
        log.push_back({.step = generator.pick(0, 4)});
      } else {
        log.push_back({.first = generator.pick(-1, n), .second = generator.pick(0, n - 1)});
      }
    }
    EXPECT_FALSE(holds(problem, plan, plan.pools[0].height_bytes, log)) << round;
  }
}

}  // namespace
}  // namespace ingot::testing
