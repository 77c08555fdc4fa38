// SPDX-License-Identifier: Apache-2.0
#include "plan/spill.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "plan/bound.h"
#include "plan/live_set.h"
#include "support/arithmetic.h"

namespace ingot::plan {
namespace {

size_t index(int64_t i) { return static_cast<size_t>(i); }

std::vector<int64_t> buffers_of(std::span<const Unit> units, std::span<const int64_t> some) {
  std::vector<int64_t> buffers;
  for (const int64_t u : some)
    buffers.insert(buffers.end(), units[index(u)].buffers.begin(), units[index(u)].buffers.end());
  std::ranges::sort(buffers);
  return buffers;
}

// One sweep over time.
class Sweep {
 public:
  Sweep(const Problem& problem, std::span<const Unit> units, std::span<const int64_t> inside,
        int64_t capacity, const std::vector<bool>& may_leave)
      : problem_(problem),
        units_(units),
        buffers_(buffers_of(units, inside)),
        capacity_(capacity),
        may_leave_(may_leave),
        live_(problem, buffers_),
        live_bytes_(units.size(), 0),
        has_left_(units.size(), false),
        unit_of_(problem.buffers.size(), -1) {
    for (const int64_t u : inside)
      for (const int64_t b : units[index(u)].buffers) unit_of_[index(b)] = u;
  }

  // The units that left, in that order.
  std::vector<int64_t> run() {
    const std::vector<LifeEvent> events = life_events(problem_, buffers_);
    std::vector<int64_t> left;
    for (size_t e = 0; e < events.size(); ++e) {
      const int64_t b = events[e].buffer;
      if (has_left_[index(unit_of_[index(b)])]) continue;
      events[e].begins ? add(b) : remove(b);
      if (e + 1 < events.size() && events[e + 1].time == events[e].time) continue;
      while (live_.needed_bytes() > capacity_) {
        const std::optional<int64_t> victim = cheapest();
        if (!victim) break;
        evict(*victim);
        left.push_back(*victim);
      }
    }
    return left;
  }

 private:
  void add(int64_t b) {
    live_.add(b);
    const int64_t u = unit_of_[index(b)];
    live_bytes_[index(u)] += problem_.buffers[index(b)].size_bytes;
    if (may_leave_[index(u)]) candidates_.insert(u);
  }
  void remove(int64_t b) {
    live_.remove(b);
    const int64_t u = unit_of_[index(b)];
    live_bytes_[index(u)] -= problem_.buffers[index(b)].size_bytes;
    if (live_bytes_[index(u)] == 0) candidates_.erase(u);
  }

  std::optional<int64_t> cheapest() const {
    const int64_t excess = live_.needed_bytes() - capacity_;
    // Those that free enough come first, the smaller the better; then the others, the larger.
    const auto cost = [&](int64_t u) {
      const int64_t bytes = live_bytes_[index(u)];
      const bool is_enough = bytes >= excess;
      return std::tuple(!is_enough, is_enough ? bytes : -bytes, -units_[index(u)].lifetime.end, u);
    };
    const auto best = std::ranges::min_element(candidates_, {}, cost);
    if (best == candidates_.end()) return std::nullopt;
    return *best;
  }

  void evict(int64_t u) {
    for (const int64_t b : units_[index(u)].buffers)
      if (live_.is_alive(b)) live_.remove(b);
    live_bytes_[index(u)] = 0;
    has_left_[index(u)] = true;
    candidates_.erase(u);
  }

  const Problem& problem_;
  std::span<const Unit> units_;
  std::vector<int64_t> buffers_;
  int64_t capacity_;
  const std::vector<bool>& may_leave_;
  LiveSet live_;
  std::set<int64_t> candidates_;     // alive and free to leave
  std::vector<int64_t> live_bytes_;  // by unit
  std::vector<bool> has_left_;       // by unit
  std::vector<int64_t> unit_of_;     // by buffer
};

// How much of a pool is taken at each time, every unit counted whole and overlaps not at all: never
// less than the load.
class Profile {
 public:
  Profile(const Problem& problem, std::span<const Unit> units, std::span<const int64_t> all)
      : units_(units), cell_(LiveSet(problem, buffers_of(units, all)).cell_bytes()) {
    for (const int64_t u : all) {
      times_.push_back(units[index(u)].lifetime.begin);
      times_.push_back(units[index(u)].lifetime.end);
    }
    std::ranges::sort(times_);
    times_.erase(std::unique(times_.begin(), times_.end()), times_.end());
    taken_.assign(times_.size(), 0);
  }

  void add(int64_t u) {
    for (int64_t& taken : span_of(u)) taken += bytes(u);
  }
  bool has_room(int64_t u, int64_t capacity) {
    return std::ranges::all_of(span_of(u),
                               [&](int64_t taken) { return taken + bytes(u) <= capacity; });
  }

 private:
  int64_t bytes(int64_t u) const { return round_up(units_[index(u)].extent_bytes, cell_); }
  std::span<int64_t> span_of(int64_t u) {
    const Interval life = units_[index(u)].lifetime;
    const auto place = [&](int64_t time) {
      return static_cast<size_t>(std::ranges::lower_bound(times_, time) - times_.begin());
    };
    return std::span(taken_).subspan(place(life.begin), place(life.end) - place(life.begin));
  }

  std::span<const Unit> units_;
  int64_t cell_;
  std::vector<int64_t> times_;
  std::vector<int64_t> taken_;  // from each time to the next
};

std::vector<int64_t> without(std::span<const int64_t> units, const std::set<int64_t>& left) {
  std::vector<int64_t> rest;
  for (const int64_t u : units)
    if (!left.contains(u)) rest.push_back(u);
  return rest;
}

}  // namespace

std::vector<Unit> units_of(const Problem& problem) {
  std::vector<Unit> units;
  std::vector<Interval> spans;  // by unit: of offset - group offset
  std::map<int64_t, size_t> unit_of_group;
  for (size_t b = 0; b < problem.buffers.size(); ++b) {
    const Buffer& buffer = problem.buffers[b];
    const bool is_alone = buffer.group < 0;
    const size_t u =
        is_alone ? units.size() : unit_of_group.emplace(buffer.group, units.size()).first->second;
    const int64_t begin = is_alone ? 0 : buffer.group_offset;
    if (u == units.size()) {
      units.emplace_back().pools = buffer.pools.empty() ? std::vector<int64_t>{0} : buffer.pools;
      spans.push_back({begin, begin});
    }
    Unit& unit = units[u];
    unit.buffers.push_back(static_cast<int64_t>(b));
    unit.is_fixed = unit.is_fixed || buffer.fixed_offset.has_value();
    spans[u] = {std::min(spans[u].begin, begin), std::max(spans[u].end, begin + buffer.size_bytes)};
    unit.extent_bytes = spans[u].end - spans[u].begin;
    if (buffer.size_bytes == 0 || buffer.lifetime.begin >= buffer.lifetime.end) continue;
    const bool is_first = unit.lifetime.begin == unit.lifetime.end;
    unit.lifetime = is_first ? buffer.lifetime
                             : Interval{std::min(unit.lifetime.begin, buffer.lifetime.begin),
                                        std::max(unit.lifetime.end, buffer.lifetime.end)};
  }
  return units;
}

std::vector<int64_t> overfull_units(const Problem& problem, std::span<const Unit> units,
                                    std::span<const int64_t> inside, int64_t capacity,
                                    const std::vector<bool>& may_leave) {
  std::set<int64_t> left;
  for (const int64_t u : inside)
    if (units[index(u)].extent_bytes > capacity && may_leave[index(u)]) left.insert(u);
  // Without those that left, alignments may be coarser, and the load higher: at most as often as
  // the greatest common divisor of the alignments can grow.
  std::vector<int64_t> rest = without(inside, left);
  std::vector<int64_t> candidates;
  while (greatest_load(problem, buffers_of(units, rest)).bytes > capacity) {
    const std::vector<int64_t> more = Sweep(problem, units, rest, capacity, may_leave).run();
    if (more.empty()) break;
    candidates.insert(candidates.end(), more.begin(), more.end());
    left.insert(more.begin(), more.end());
    rest = without(inside, left);
  }
  if (candidates.empty()) return {left.begin(), left.end()};
  std::vector<int64_t> all = rest;
  all.insert(all.end(), candidates.begin(), candidates.end());
  Profile profile(problem, units, all);
  for (const int64_t u : rest) profile.add(u);
  std::ranges::stable_sort(candidates, {},
                           [&](int64_t u) { return std::pair(-units[index(u)].extent_bytes, u); });
  for (const int64_t u : candidates) {
    if (!profile.has_room(u, capacity)) continue;
    profile.add(u);
    left.erase(u);
  }
  return {left.begin(), left.end()};
}

}  // namespace ingot::plan
