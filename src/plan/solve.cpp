// SPDX-License-Identifier: Apache-2.0
// solve: buffers to pools, then each pool for itself: bound, heuristics, exact search.
#include <algorithm>
#include <map>
#include <numeric>

#include "plan/bound.h"
#include "plan/items.h"
#include "plan/pack.h"
#include "plan/plan.h"
#include "support/check.h"

namespace ingot::plan {
namespace {

size_t index(int64_t i) { return static_cast<size_t>(i); }

std::vector<int64_t> pools_of(const Buffer& buffer) {
  return buffer.pools.empty() ? std::vector<int64_t>{0} : buffer.pools;
}

// The buffers in each pool.
std::vector<std::vector<int64_t>> by_pool(const Problem& problem,
                                          const std::vector<int64_t>& pool_of) {
  std::vector<std::vector<int64_t>> result(problem.pools.size());
  for (size_t b = 0; b < pool_of.size(); ++b)
    result[index(pool_of[b])].push_back(static_cast<int64_t>(b));
  return result;
}

// Plans one pool; writes offsets, and the directions of steps that were still open.
PoolPlan plan_pool(const Problem& problem, const std::vector<int64_t>& buffers,
                   const Limits& limits, Deadline deadline, Plan& plan) {
  const Instance instance(problem, buffers, plan.directions);
  const Load load = greatest_load(problem, buffers);
  const int64_t bound = std::max(load.bytes, forced_height(problem, buffers));
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

}  // namespace

Plan solve(const Problem& problem, const Limits& limits) {
  CHECK(find_fault(problem).empty());
  Deadline deadline;
  if (limits.seconds)
    deadline = std::chrono::steady_clock::now() +
               std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                   std::chrono::duration<double>(*limits.seconds));
  Plan plan;
  plan.offsets.assign(problem.buffers.size(), 0);
  for (const Buffer& buffer : problem.buffers) plan.pool_of.push_back(pools_of(buffer).front());
  plan.optimal = true;
  const std::vector<std::vector<int64_t>> buffers = by_pool(problem, plan.pool_of);
  for (size_t p = 0; p < problem.pools.size(); ++p) {
    plan.pools.push_back(plan_pool(problem, buffers[p], limits, deadline, plan));
    plan.optimal = plan.optimal && plan.pools.back().optimal;
    const std::optional<int64_t> capacity = problem.pools[p].capacity_bytes;
    plan.fits = plan.fits && (!capacity || plan.pools.back().height_bytes <= *capacity);
  }
  complete_directions(problem, plan);
  return plan;
}

}  // namespace ingot::plan
