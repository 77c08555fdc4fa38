// SPDX-License-Identifier: Apache-2.0
// find_violation: the judge of plans. It re-derives everything from the problem and includes
// nothing of the solvers. Pairs are found by a sweep over time with the live buffers of a pool
// ordered by offset, so the work is near-linear as long as few buffers legitimately overlap.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "plan/plan.h"

namespace ingot::plan {
namespace {

using Pair = std::pair<int64_t, int64_t>;

int64_t num_buffers(const Problem& problem) { return static_cast<int64_t>(problem.buffers.size()); }

const Buffer& buffer_at(const Problem& problem, int64_t b) {
  return problem.buffers[static_cast<size_t>(b)];
}

int64_t offset_at(const Plan& plan, int64_t b) { return plan.offsets[static_cast<size_t>(b)]; }
int64_t pool_at(const Plan& plan, int64_t b) { return plan.pool_of[static_cast<size_t>(b)]; }

bool takes_space(const Buffer& buffer) {
  return buffer.size_bytes > 0 && buffer.lifetime.begin < buffer.lifetime.end;
}

std::string shape_violation(const Problem& problem, const Plan& plan) {
  if (plan.offsets.size() != problem.buffers.size() ||
      plan.pool_of.size() != problem.buffers.size())
    return "the plan does not have one offset and one pool per buffer";
  if (plan.pools.size() != problem.pools.size()) return "the plan does not have one entry per pool";
  return "";
}

std::string placement_violation(const Problem& problem, const Plan& plan) {
  std::map<int64_t, int64_t> first_of_group;
  for (int64_t b = 0; b < num_buffers(problem); ++b) {
    const Buffer& buffer = buffer_at(problem, b);
    const int64_t offset = offset_at(plan, b);
    const int64_t pool = pool_at(plan, b);
    const bool anywhere = buffer.pools.empty() && pool == 0;
    if (!anywhere && std::ranges::find(buffer.pools, pool) == buffer.pools.end())
      return fmt::format("{} lies in pool {}, where it may not be", buffer.name, pool);
    const Pool& region = problem.pools[static_cast<size_t>(pool)];
    if (offset < 0) return fmt::format("{} has a negative offset", buffer.name);
    if (offset % buffer.alignment != 0) return fmt::format("{} is misaligned", buffer.name);
    if (region.alignment != 0 && region.alignment % buffer.alignment != 0)
      return fmt::format("{} needs more alignment than pool {} has", buffer.name, pool);
    if (offset + buffer.size_bytes > plan.pools[static_cast<size_t>(pool)].height_bytes)
      return fmt::format("{} ends above the height of its pool", buffer.name);
    if (buffer.fixed_offset && *buffer.fixed_offset != offset)
      return fmt::format("{} is not at its fixed offset", buffer.name);
    if (buffer.group < 0) continue;
    const int64_t first = first_of_group.emplace(buffer.group, b).first->second;
    if (pool_at(plan, first) != pool)
      return fmt::format("{} and {} are tied and lie in different pools",
                         buffer_at(problem, first).name, buffer.name);
    if (offset_at(plan, first) - buffer_at(problem, first).group_offset !=
        offset - buffer.group_offset)
      return fmt::format("{} and {} are tied at another distance", buffer_at(problem, first).name,
                         buffer.name);
  }
  return "";
}

// Which pairs may overlap, and how each step runs.
class Permissions {
 public:
  Permissions(const Problem& problem, const Plan& plan) : problem_(problem), plan_(plan) {
    for (const Overlap& overlap : problem.overlaps)
      by_pair_.emplace(std::minmax(overlap.output, overlap.input), &overlap);
    for (const StepDirection& choice : plan.directions) direction_[choice.step] = choice.direction;
  }

  // Whether the pair, whose bytes overlap while both are alive, may do so.
  bool allow(int64_t a, int64_t b) const {
    const int64_t group = buffer_at(problem_, a).group;
    if (group >= 0 && group == buffer_at(problem_, b).group) return true;
    const auto found = by_pair_.find(std::minmax(a, b));
    if (found == by_pair_.end()) return false;
    const Overlap& overlap = *found->second;
    const auto direction = direction_.find(overlap.step);
    if (direction == direction_.end()) return false;
    const int64_t distance = offset_at(plan_, overlap.input) - offset_at(plan_, overlap.output);
    if (direction->second == Direction::kForward)
      return overlap.forward && distance >= *overlap.forward;
    return overlap.reverse && -distance >= *overlap.reverse;
  }

 private:
  const Problem& problem_;
  const Plan& plan_;
  std::map<Pair, const Overlap*> by_pair_;
  std::map<int64_t, Direction> direction_;
};

struct Event {
  int64_t time;
  bool begins;  // ends sort before begins
  int64_t buffer;

  auto operator<=>(const Event&) const = default;
};

std::vector<Event> events_of(const Problem& problem) {
  std::vector<Event> events;
  for (int64_t b = 0; b < num_buffers(problem); ++b) {
    const Buffer& buffer = buffer_at(problem, b);
    if (!takes_space(buffer)) continue;
    events.push_back({buffer.lifetime.begin, true, b});
    events.push_back({buffer.lifetime.end, false, b});
  }
  std::ranges::sort(events);
  return events;
}

std::string pair_violation(const Problem& problem, const Plan& plan) {
  const Permissions permissions(problem, plan);
  int64_t largest = 0;
  for (const Buffer& buffer : problem.buffers) largest = std::max(largest, buffer.size_bytes);
  std::vector<std::set<Pair>> live(problem.pools.size());  // (offset, buffer)
  for (const Event& event : events_of(problem)) {
    const int64_t b = event.buffer;
    const int64_t begin = offset_at(plan, b);
    const int64_t end = begin + buffer_at(problem, b).size_bytes;
    std::set<Pair>& here = live[static_cast<size_t>(pool_at(plan, b))];
    if (!event.begins) {
      here.erase({begin, b});
      continue;
    }
    for (auto it = here.lower_bound({begin - largest, 0}); it != here.end() && it->first < end;
         ++it) {
      const int64_t other = it->second;
      if (it->first + buffer_at(problem, other).size_bytes <= begin) continue;
      if (!permissions.allow(other, b))
        return fmt::format("{} and {} are alive together and overlap",
                           buffer_at(problem, std::min(other, b)).name,
                           buffer_at(problem, std::max(other, b)).name);
    }
    here.emplace(begin, b);
  }
  return "";
}

// The greatest number of bytes (in whole cells of `cell` bytes) the pair may share.
int64_t shareable(const Problem& problem, const Overlap& overlap, int64_t cell) {
  const auto cells = [cell](int64_t bytes) {
    const int64_t quotient = bytes / cell;
    return quotient + (bytes % cell > 0 ? 1 : 0);
  };
  const int64_t out = cells(buffer_at(problem, overlap.output).size_bytes);
  const int64_t in = cells(buffer_at(problem, overlap.input).size_bytes);
  int64_t most = 0;
  const auto consider = [&](int64_t distance) {  // input - output
    most = std::max(most, std::min(out, distance + in) - std::max<int64_t>(0, distance));
  };
  if (overlap.forward) consider(std::max(cells(*overlap.forward), std::min<int64_t>(0, out - in)));
  if (overlap.reverse) consider(std::min(-cells(*overlap.reverse), std::max<int64_t>(0, out - in)));
  return most;
}

// How many bytes the buffers alive at `time` in `pool` need at least.
int64_t needed_at(const Problem& problem, const Plan& plan, int64_t pool, int64_t time,
                  std::vector<int64_t>& alive) {
  int64_t cell = 0;
  for (int64_t b = 0; b < num_buffers(problem); ++b) {
    const Buffer& buffer = buffer_at(problem, b);
    if (pool_at(plan, b) != pool || !takes_space(buffer)) continue;
    cell = std::gcd(cell, buffer.alignment);
    if (buffer.lifetime.begin <= time && time < buffer.lifetime.end) alive.push_back(b);
  }
  if (alive.empty()) return 0;
  // The union of what each tied group (or single buffer) covers, in cells.
  std::map<Pair, std::vector<Interval>> covered;
  int64_t padding = 0;
  for (const int64_t b : alive) {
    const Buffer& buffer = buffer_at(problem, b);
    const int64_t first = offset_at(plan, b) / cell;
    const int64_t size = (buffer.size_bytes + cell - 1) / cell;
    padding = std::max(padding, size * cell - buffer.size_bytes);
    const Pair key = buffer.group >= 0 ? Pair{0, buffer.group} : Pair{1, b};
    covered[key].push_back({first, first + size});
  }
  std::map<Pair, int64_t> width;
  int64_t total = 0;
  for (auto& [key, intervals] : covered) {
    std::ranges::sort(intervals, {}, &Interval::begin);
    int64_t end = intervals.front().begin;
    for (const Interval& interval : intervals) {
      width[key] += std::max<int64_t>(0, interval.end - std::max(end, interval.begin));
      end = std::max(end, interval.end);
    }
    total += width[key];
  }
  // What overlaps save: at most the whole output, where no output is its own input's input.
  std::map<Pair, int64_t> saved;
  for (const Overlap& overlap : problem.overlaps) {
    if (!std::ranges::binary_search(alive, overlap.output) ||
        !std::ranges::binary_search(alive, overlap.input))
      continue;
    const Buffer& out = buffer_at(problem, overlap.output);
    const Buffer& in = buffer_at(problem, overlap.input);
    const int64_t bytes = shareable(problem, overlap, cell);
    if (out.group < 0 && in.group < 0 && in.lifetime.begin < out.lifetime.begin)
      saved[{1, overlap.output}] += bytes;
    else
      total -= bytes;
  }
  for (const auto& [key, bytes] : saved) total -= std::min(bytes, width[key]);
  return std::max<int64_t>(0, total * cell - padding);
}

// The greatest end that single buffers and groups force by themselves.
int64_t forced_height(const Problem& problem, const Plan& plan, int64_t pool) {
  std::map<int64_t, Interval> extents;
  int64_t height = 0;
  for (int64_t b = 0; b < num_buffers(problem); ++b) {
    const Buffer& buffer = buffer_at(problem, b);
    if (pool_at(plan, b) != pool) continue;
    const int64_t end = buffer.fixed_offset.value_or(0) + buffer.size_bytes;
    height = std::max(height, end);
    if (buffer.group < 0) continue;
    const Interval span{buffer.group_offset, buffer.group_offset + buffer.size_bytes};
    Interval& extent = extents.emplace(buffer.group, span).first->second;
    extent = {std::min(extent.begin, span.begin), std::max(extent.end, span.end)};
    // A member at a fixed offset fixes the others; the plan has them at the right distance.
    if (buffer.fixed_offset)
      for (int64_t other = 0; other < num_buffers(problem); ++other)
        if (buffer_at(problem, other).group == buffer.group)
          height = std::max(height, offset_at(plan, other) + buffer_at(problem, other).size_bytes);
  }
  for (const auto& [group, extent] : extents) height = std::max(height, extent.end - extent.begin);
  return height;
}

std::string pool_violation(const Problem& problem, const Plan& plan, int64_t pool) {
  const PoolPlan& claim = plan.pools[static_cast<size_t>(pool)];
  int64_t height = 0;
  for (int64_t b = 0; b < num_buffers(problem); ++b)
    if (pool_at(plan, b) == pool)
      height = std::max(height, offset_at(plan, b) + buffer_at(problem, b).size_bytes);
  if (height != claim.height_bytes)
    return fmt::format("pool {} is {} bytes high, not {}", pool, height, claim.height_bytes);
  std::vector<int64_t> alive;
  const int64_t needed = needed_at(problem, plan, pool, claim.witness_time, alive);
  if (alive != claim.witness)
    return fmt::format("the witness of pool {} is not the live set", pool);
  if (needed != claim.load_bytes)
    return fmt::format("the witness of pool {} needs {} bytes, not {}", pool, needed,
                       claim.load_bytes);
  if (claim.lower_bound_bytes > claim.height_bytes)
    return fmt::format("the lower bound of pool {} is above its height", pool);
  const int64_t proven = std::max(needed, forced_height(problem, plan, pool));
  if (!claim.searched && claim.lower_bound_bytes > proven)
    return fmt::format("the lower bound of pool {} has no witness", pool);
  if (claim.optimal && claim.height_bytes != claim.lower_bound_bytes)
    return fmt::format("pool {} is called optimal above its lower bound", pool);
  return "";
}

}  // namespace

std::string find_violation(const Problem& problem, const Plan& plan) {
  std::string violation = shape_violation(problem, plan);
  if (violation.empty()) violation = placement_violation(problem, plan);
  if (violation.empty()) violation = pair_violation(problem, plan);
  bool fits = true;
  bool optimal = true;
  for (size_t p = 0; p < problem.pools.size() && violation.empty(); ++p) {
    violation = pool_violation(problem, plan, static_cast<int64_t>(p));
    const std::optional<int64_t> capacity = problem.pools[p].capacity_bytes;
    fits = fits && (!capacity || plan.pools[p].height_bytes <= *capacity);
    optimal = optimal && plan.pools[p].optimal;
  }
  if (!violation.empty()) return violation;
  if (fits != plan.fits) return "the plan is wrong about fitting its pools";
  if (plan.optimal && !optimal) return "the plan is called optimal and one of its pools is not";
  for (int64_t b = 0; b < num_buffers(problem) && plan.optimal; ++b) {
    const std::vector<int64_t>& pools = buffer_at(problem, b).pools;
    if (!pools.empty() && pool_at(plan, b) != pools.front())
      return fmt::format("the plan is called optimal and {} does not lie where it likes best",
                         buffer_at(problem, b).name);
  }
  return "";
}

}  // namespace ingot::plan
