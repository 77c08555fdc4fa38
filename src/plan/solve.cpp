// SPDX-License-Identifier: Apache-2.0
// solve: each pool for itself: bound, heuristics, exact search. What does not fit into a pool goes
// to the one it likes next, so pools are planned in the order in which buffers move on.
#include <algorithm>
#include <map>
#include <set>

#include "plan/bound.h"
#include "plan/items.h"
#include "plan/pack.h"
#include "plan/plan.h"
#include "plan/spill.h"
#include "support/check.h"

namespace ingot::plan {
namespace {

size_t index(int64_t i) { return static_cast<size_t>(i); }

// Plans one pool; writes offsets, and the directions of steps that were still open.
PoolPlan plan_pool(const Problem& problem, const std::vector<int64_t>& buffers,
                   const Limits& limits, Deadline deadline, Plan& plan) {
  const Instance instance(problem, buffers, plan.directions);
  const Load load = greatest_load(problem, buffers);
  const int64_t bound = std::max(load.bytes, forced_height(instance));
  const Packing packing = pack(instance, bound, limits, deadline);
  const Placement& best = packing.placement;
  for (int64_t i = 0; i < instance.size(); ++i)
    for (const Part& part : instance[i].parts)
      plan.offsets[index(part.buffer)] = best.bases[index(i)] + part.start;
  for (size_t s = 0; s < instance.steps().size(); ++s) {
    if (instance.decided()[s] != Run::kFree) continue;
    const auto step = static_cast<int64_t>(s);
    const bool forward = instance.step_allows(step, Run::kForward, best.bases);
    CHECK(forward || instance.step_allows(step, Run::kReverse, best.bases));
    plan.directions.push_back(
        {instance.steps()[s], forward ? Direction::kForward : Direction::kReverse});
  }
  PoolPlan result;
  result.height_bytes = best.height;
  result.lower_bound_bytes = packing.lower_bound;
  result.load_bytes = load.bytes;
  result.witness_time = load.time;
  result.witness = load.alive;
  result.searched = packing.lower_bound > bound;
  result.optimal = result.height_bytes == result.lower_bound_bytes;
  return result;
}

// Steps whose overlaps met in no pool run forward.
void complete_directions(const Problem& problem, Plan& plan) {
  std::map<int64_t, Direction> directions;
  for (const StepDirection& choice : plan.directions) directions[choice.step] = choice.direction;
  for (const Overlap& overlap : problem.overlaps)
    directions.emplace(overlap.step, Direction::kForward);
  plan.directions.clear();
  for (const auto& [step, direction] : directions) plan.directions.push_back({step, direction});
}

// The pools in an order in which units move on only to later ones, as far as their wishes allow;
// the first pool, which is the arena, as late as possible.
std::vector<int64_t> planning_order(const Problem& problem, std::span<const Unit> units) {
  std::vector<std::set<int64_t>> before(problem.pools.size());
  for (const Unit& unit : units)
    for (size_t i = 1; i < unit.pools.size(); ++i)
      if (unit.pools[i] != unit.pools[i - 1])
        before[index(unit.pools[i])].insert(unit.pools[i - 1]);
  std::vector<int64_t> waiting;
  for (size_t p = 1; p < problem.pools.size(); ++p) waiting.push_back(static_cast<int64_t>(p));
  if (!problem.pools.empty()) waiting.push_back(0);
  std::vector<int64_t> order;
  while (!waiting.empty()) {
    const auto is_free = [&](int64_t p) {
      return std::ranges::none_of(
          waiting, [&](int64_t other) { return other != p && before[index(p)].contains(other); });
    };
    auto next = std::ranges::find_if(waiting, is_free);
    if (next == waiting.end()) next = waiting.begin();
    order.push_back(*next);
    waiting.erase(next);
  }
  return order;
}

class Solver {
 public:
  Solver(const Problem& problem, const Limits& limits, Deadline deadline)
      : problem_(problem), limits_(limits), deadline_(deadline), units_(units_of(problem)) {
    plan_.offsets.assign(problem.buffers.size(), 0);
    plan_.pool_of.assign(problem.buffers.size(), 0);
    plan_.pools.resize(problem.pools.size());
    is_planned_.assign(problem.pools.size(), false);
    for (const Unit& unit : units_) pool_of_.push_back(unit.pools.front());
  }

  Plan run() {
    plan_.optimal = true;
    for (const int64_t pool : planning_order(problem_, units_)) {
      plan_one(pool);
      const PoolPlan& planned = plan_.pools[index(pool)];
      plan_.optimal = plan_.optimal && planned.optimal;
      const std::optional<int64_t> capacity = problem_.pools[index(pool)].capacity_bytes;
      plan_.fits = plan_.fits && (!capacity || planned.height_bytes <= *capacity);
    }
    for (size_t u = 0; u < units_.size(); ++u) {
      plan_.optimal = plan_.optimal && pool_of_[u] == units_[u].pools.front();
      for (const int64_t b : units_[u].buffers) plan_.pool_of[index(b)] = pool_of_[u];
    }
    complete_directions(problem_, plan_);
    return std::move(plan_);
  }

 private:
  // Where the unit goes if it leaves its pool.
  std::optional<int64_t> next_pool(const Unit& unit, int64_t pool) const {
    if (unit.is_fixed) return std::nullopt;
    auto next = std::ranges::find(unit.pools, pool);
    while (next != unit.pools.end() && (*next == pool || is_planned_[index(*next)])) ++next;
    if (next == unit.pools.end()) return std::nullopt;
    return *next;
  }

  std::vector<int64_t> units_in(int64_t pool) const {
    std::vector<int64_t> inside;
    for (size_t u = 0; u < units_.size(); ++u)
      if (pool_of_[u] == pool) inside.push_back(static_cast<int64_t>(u));
    return inside;
  }

  std::vector<int64_t> buffers_in(int64_t pool) const {
    std::vector<int64_t> buffers;
    for (const int64_t u : units_in(pool))
      buffers.insert(buffers.end(), units_[index(u)].buffers.begin(),
                     units_[index(u)].buffers.end());
    std::ranges::sort(buffers);
    return buffers;
  }

  void move_on(std::span<const int64_t> leaving, int64_t pool) {
    for (const int64_t u : leaving) pool_of_[index(u)] = *next_pool(units_[index(u)], pool);
  }

  void plan_one(int64_t pool) {
    const std::optional<int64_t> capacity = problem_.pools[index(pool)].capacity_bytes;
    std::vector<bool> may_leave(units_.size(), false);
    if (capacity) {
      for (size_t u = 0; u < units_.size(); ++u)
        may_leave[u] = pool_of_[u] == pool && next_pool(units_[u], pool).has_value();
      move_on(overfull_units(problem_, units_, units_in(pool), *capacity, may_leave), pool);
    }
    const Plan before = plan_;
    PoolPlan planned = plan_pool(problem_, buffers_in(pool), limits_, deadline_, plan_);
    // The load fits, the packing does not: one more has to go, and after some tries all that lie
    // above the capacity.
    for (int64_t tries = 0; capacity && planned.height_bytes > *capacity; ++tries) {
      constexpr int64_t kMostTries = 6;
      const std::vector<int64_t> above = units_above(pool, *capacity, may_leave);
      if (above.empty()) break;
      const bool is_last = tries == kMostTries || is_over(deadline_);
      move_on(is_last ? std::span(above) : std::span(above).first(1), pool);
      if (is_last) {
        planned = plan_of_the_rest(pool);
        break;
      }
      plan_ = before;
      planned = plan_pool(problem_, buffers_in(pool), limits_, deadline_, plan_);
    }
    plan_.pools[index(pool)] = std::move(planned);
    is_planned_[index(pool)] = true;
  }

  int64_t end_of(const Unit& unit) const {
    int64_t end = 0;
    for (const int64_t b : unit.buffers)
      end = std::max(end, plan_.offsets[index(b)] + problem_.buffers[index(b)].size_bytes);
    return end;
  }

  // The units that end above `capacity` and may leave, the smallest first.
  std::vector<int64_t> units_above(int64_t pool, int64_t capacity,
                                   const std::vector<bool>& may_leave) const {
    std::vector<int64_t> above;
    for (const int64_t u : units_in(pool))
      if (may_leave[index(u)] && end_of(units_[index(u)]) > capacity) above.push_back(u);
    std::ranges::stable_sort(above, {}, [&](int64_t u) { return units_[index(u)].extent_bytes; });
    return above;
  }

  // What is left of a pool from which units were taken, at the places it had.
  PoolPlan plan_of_the_rest(int64_t pool) const {
    const std::vector<int64_t> buffers = buffers_in(pool);
    const Load load = greatest_load(problem_, buffers);
    PoolPlan rest;
    for (const int64_t u : units_in(pool))
      rest.height_bytes = std::max(rest.height_bytes, end_of(units_[index(u)]));
    rest.lower_bound_bytes = std::max(load.bytes, forced_height(problem_, buffers));
    rest.load_bytes = load.bytes;
    rest.witness_time = load.time;
    rest.witness = load.alive;
    rest.optimal = rest.height_bytes == rest.lower_bound_bytes;
    return rest;
  }

  const Problem& problem_;
  const Limits& limits_;
  Deadline deadline_;
  std::vector<Unit> units_;
  std::vector<int64_t> pool_of_;  // by unit
  std::vector<bool> is_planned_;  // by pool
  Plan plan_;
};

}  // namespace

Plan solve(const Problem& problem, const Limits& limits) {
  CHECK(find_fault(problem).empty());
  Deadline deadline;
  if (limits.seconds)
    deadline = std::chrono::steady_clock::now() +
               std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                   std::chrono::duration<double>(*limits.seconds));
  return Solver(problem, limits, deadline).run();
}

}  // namespace ingot::plan
