// SPDX-License-Identifier: Apache-2.0
// find_fault: what makes a problem meaningless, so that the solvers may rely on the rest.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "plan/congruence.h"
#include "plan/items.h"
#include "plan/plan.h"
#include "support/arithmetic.h"

namespace ingot::plan {
namespace {

constexpr int64_t kLargestAlignment = int64_t{1} << 30;
// Sums of sizes, offsets and distances stay far inside int64_t.
constexpr int64_t kLargestBytes = int64_t{1} << 48;
constexpr int64_t kLargestTime = int64_t{1} << 62;

bool in_range(int64_t value, int64_t limit) { return -limit <= value && value <= limit; }

// Groups need one base that is right for all members, and the same pools.
std::string group_fault(const Problem& problem) {
  struct Group {
    const Buffer* first;
    Congruence origin;  // of offset - group_offset
    std::optional<int64_t> fixed;
    int64_t lowest;
  };
  std::map<int64_t, Group> groups;
  for (const Buffer& buffer : problem.buffers) {
    if (buffer.group < 0) continue;
    Group& group =
        groups.emplace(buffer.group, Group{&buffer, {}, {}, buffer.group_offset}).first->second;
    const auto fault = [&](std::string_view what) {
      return fmt::format("{} and {} are tied and {}", group.first->name, buffer.name, what);
    };
    if (group.first->pools != buffer.pools) return fault("may lie in different pools");
    const Congruence own{floor_mod(-buffer.group_offset, buffer.alignment), buffer.alignment};
    const std::optional<Congruence> both = intersect(group.origin, own);
    if (!both) return fault("their alignments contradict each other");
    group.origin = *both;
    group.lowest = std::min(group.lowest, buffer.group_offset);
    if (!buffer.fixed_offset) continue;
    const int64_t fixed = *buffer.fixed_offset - buffer.group_offset;
    if (group.fixed && *group.fixed != fixed) return fault("their fixed offsets contradict it");
    group.fixed = fixed;
  }
  for (const auto& [number, group] : groups) {
    if (!group.fixed) continue;
    if (*group.fixed + group.lowest < 0)
      return fmt::format("a fixed offset puts the group of {} below zero", group.first->name);
    if (floor_mod(*group.fixed, group.origin.modulus) != group.origin.residue)
      return fmt::format("a fixed offset breaks an alignment in the group of {}",
                         group.first->name);
  }
  return "";
}

std::string overlap_fault(const Problem& problem) {
  const int64_t n = static_cast<int64_t>(problem.buffers.size());
  std::set<std::pair<int64_t, int64_t>> seen;
  for (const Overlap& overlap : problem.overlaps) {
    if (overlap.output < 0 || overlap.output >= n || overlap.input < 0 || overlap.input >= n)
      return "an overlap names a buffer that does not exist";
    const auto name = [&](int64_t b) { return problem.buffers[static_cast<size_t>(b)].name; };
    if (overlap.output == overlap.input)
      return fmt::format("{} overlaps itself", name(overlap.output));
    if (!seen.insert(std::minmax(overlap.output, overlap.input)).second)
      return fmt::format("{} and {} have two overlaps", name(overlap.output), name(overlap.input));
    if (!in_range(overlap.forward.value_or(0), kLargestBytes) ||
        !in_range(overlap.reverse.value_or(0), kLargestBytes))
      return fmt::format("{} has an overlap out of range", name(overlap.output));
  }
  return "";
}

// Fixed offsets must not contradict each other.
std::string fixed_fault(const Problem& problem) {
  const auto is_fixed = [](const Buffer& buffer) { return buffer.fixed_offset.has_value(); };
  if (std::ranges::none_of(problem.buffers, is_fixed)) return "";
  std::map<int64_t, std::vector<int64_t>> by_pool;
  for (size_t b = 0; b < problem.buffers.size(); ++b) {
    const std::vector<int64_t>& pools = problem.buffers[b].pools;
    by_pool[pools.empty() ? 0 : pools.front()].push_back(static_cast<int64_t>(b));
  }
  for (const auto& [pool, buffers] : by_pool) {
    const Instance instance(problem, buffers, {});
    const auto name = [&](int64_t item) {
      return problem.buffers[static_cast<size_t>(instance[item].parts.front().buffer)].name;
    };
    std::vector<int64_t> scratch, bases(static_cast<size_t>(instance.size()), -1);
    std::vector<Gap> gaps;
    for (int64_t i = 0; i < instance.size(); ++i) {
      if (!instance[i].fixed) continue;
      bases[static_cast<size_t>(i)] = *instance[i].fixed;
      for (const int64_t j : instance.neighbours(i, scratch)) {
        if (j > i || !instance[j].fixed) continue;
        gaps.clear();
        instance.add_gaps(i, j, instance.decided(), gaps);
        for (const Gap& gap : gaps)
          if (gap.holds(*instance[j].fixed - *instance[i].fixed))
            return fmt::format("the fixed offsets of {} and {} overlap", name(j), name(i));
      }
    }
    for (size_t s = 0; s < instance.steps().size(); ++s) {
      const auto step = static_cast<int64_t>(s);
      if (!instance.step_allows(step, Run::kForward, bases) &&
          !instance.step_allows(step, Run::kReverse, bases))
        return fmt::format("fixed offsets leave no direction to step {}", instance.steps()[s]);
    }
  }
  return "";
}

}  // namespace

std::string find_fault(const Problem& problem, const Buffer& buffer) {
  if (buffer.size_bytes < 0) return "has a negative size";
  if (buffer.size_bytes > kLargestBytes) return "is too large";
  if (buffer.lifetime.begin > buffer.lifetime.end) return "dies before it is born";
  if (!in_range(buffer.lifetime.begin, kLargestTime) ||
      !in_range(buffer.lifetime.end, kLargestTime))
    return "lives at a time point out of range";
  if (buffer.alignment < 1 || buffer.alignment > kLargestAlignment)
    return "has an alignment out of range";
  if (!in_range(buffer.group_offset, kLargestBytes)) return "is tied too far away";
  if (buffer.fixed_offset && !(0 <= *buffer.fixed_offset && *buffer.fixed_offset <= kLargestBytes))
    return "has a fixed offset out of range";
  if (buffer.fixed_offset && *buffer.fixed_offset % buffer.alignment != 0)
    return "has a fixed offset that breaks its alignment";
  const int64_t num_pools = static_cast<int64_t>(problem.pools.size());
  for (const int64_t pool : buffer.pools)
    if (pool < 0 || pool >= num_pools) return "names a pool that does not exist";
  return "";
}

std::string find_fault(const Problem& problem) {
  int64_t total = 0;
  for (const Buffer& buffer : problem.buffers) {
    const std::string fault = find_fault(problem, buffer);
    if (!fault.empty()) return buffer.name + " " + fault;
    total += round_up(buffer.size_bytes, buffer.alignment);
    if (total > kLargestBytes) return "the buffers together are too large";
    // A pool below the alignment of a buffer cannot hold it.
    const std::vector<int64_t> arena = {0};
    for (const int64_t pool : buffer.pools.empty() ? arena : buffer.pools) {
      if (problem.pools.empty()) return "there is no pool";
      const int64_t alignment = problem.pools[static_cast<size_t>(pool)].alignment;
      if (alignment < 0 || (alignment > 0 && alignment % buffer.alignment != 0))
        return fmt::format("{} needs more alignment than a pool of it has", buffer.name);
    }
  }
  for (const Pool& pool : problem.pools)
    if (pool.capacity_bytes.value_or(0) < 0)
      return fmt::format("pool {} has a negative capacity", pool.name);
  std::string fault = group_fault(problem);
  if (fault.empty()) fault = overlap_fault(problem);
  if (fault.empty()) fault = fixed_fault(problem);
  return fault;
}

}  // namespace ingot::plan
