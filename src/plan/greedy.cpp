// SPDX-License-Identifier: Apache-2.0
#include "plan/greedy.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <tuple>

#include "support/check.h"

namespace ingot::plan {
namespace {

constexpr int64_t kNoLimit = std::numeric_limits<int64_t>::max();
// Items placed between looks at the clock.
constexpr int64_t kItemsPerClock = 32;
// Steps whose direction is tried both ways when one item is placed.
constexpr size_t kMostOpenSteps = 3;

size_t index(int64_t i) { return static_cast<size_t>(i); }

// For each time point between begins and ends, what is alive then; an item's breadth is the
// greatest of its lifetime. Found per item over the begins inside it, which is where loads rise.
std::vector<int64_t> breadths(const Instance& instance) {
  std::map<int64_t, int64_t> change;
  for (int64_t i = 0; i < instance.size(); ++i) {
    change[instance[i].lifetime.begin] += instance[i].extent;
    change[instance[i].lifetime.end] -= instance[i].extent;
  }
  std::vector<int64_t> times, loads;
  int64_t load = 0;
  for (const auto& [time, delta] : change) {
    times.push_back(time);
    loads.push_back(load += delta);
  }
  // Sparse table for range maxima.
  std::vector<std::vector<int64_t>> table = {loads};
  for (size_t width = 2; width <= loads.size(); width *= 2) {
    const std::vector<int64_t>& half = table.back();
    std::vector<int64_t> row(loads.size() - width + 1);
    for (size_t k = 0; k < row.size(); ++k) row[k] = std::max(half[k], half[k + width / 2]);
    table.push_back(std::move(row));
  }
  std::vector<int64_t> result(index(instance.size()));
  for (int64_t i = 0; i < instance.size(); ++i) {
    const Interval lifetime = instance[i].lifetime;
    if (lifetime.begin >= lifetime.end) continue;
    const auto first =
        static_cast<size_t>(std::ranges::lower_bound(times, lifetime.begin) - times.begin());
    const auto last =
        static_cast<size_t>(std::ranges::lower_bound(times, lifetime.end) - times.begin());
    size_t level = 0;
    while ((size_t{2} << level) <= last - first) ++level;
    result[index(i)] = std::max(table[level][first], table[level][last - (size_t{1} << level)]);
  }
  return result;
}

// A small generator, so that plans are the same with every standard library.
class Random {
 public:
  // In [0, bound).
  int64_t below(int64_t bound) {
    state_ = state_ * 6364136223846793005U + 1442695040888963407U;
    return static_cast<int64_t>((state_ >> 33U) % static_cast<uint64_t>(bound));
  }

 private:
  uint64_t state_ = 42;
};

}  // namespace

std::vector<int64_t> sorted_items(const Instance& instance, Order order) {
  const int64_t n = instance.size();
  std::vector<int64_t> breadth;
  if (order == Order::kBreadth) breadth = breadths(instance);
  std::vector<int64_t> scratch;
  using Key = std::tuple<bool, double, int64_t, int64_t>;
  std::vector<Key> keys;
  for (int64_t i = 0; i < n; ++i) {
    const Item& item = instance[i];
    const auto duration = static_cast<double>(item.lifetime.end - item.lifetime.begin);
    double key = 0;
    switch (order) {
      case Order::kSize:
        key = static_cast<double>(item.extent);
        break;
      case Order::kArea:
        key = static_cast<double>(item.extent) * duration;
        break;
      case Order::kConflicts:
        key = static_cast<double>(instance.neighbours(i, scratch).size());
        break;
      case Order::kDuration:
        key = duration;
        break;
      case Order::kBegin:
        key = -static_cast<double>(item.lifetime.begin);
        break;
      case Order::kEnd:
        key = static_cast<double>(item.lifetime.end);
        break;
      case Order::kBreadth:
        key = static_cast<double>(breadth[index(i)]);
        break;
    }
    keys.emplace_back(!item.fixed, -key, -item.extent, i);
  }
  std::ranges::sort(keys);
  std::vector<int64_t> result;
  for (const Key& key : keys) result.push_back(std::get<3>(key));
  return result;
}

Placer::Spot Placer::find_spot(int64_t item, Fit fit) {
  const Item& it = instance_[item];
  gaps_.clear();
  instance_.add_gaps_around(item, bases_, runs_, scratch_, gaps_);
  std::ranges::sort(gaps_, {}, &Gap::below);
  Spot best{-1, kNoLimit};
  int64_t free_from = it.align(0);
  for (const Gap& gap : gaps_) {
    const int64_t room = gap.below - free_from;
    if (room >= 0 && (best.base < 0 || room < best.room)) {
      best = {free_from, room};
      if (fit == Fit::kFirst) return best;
    }
    if (gap.above > free_from) free_from = it.align(gap.above);
  }
  return best.base >= 0 ? best : Spot{free_from, kNoLimit};
}

void Placer::decide(int64_t step) {
  const bool forward = instance_.step_allows(step, Run::kForward, bases_);
  const bool reverse = instance_.step_allows(step, Run::kReverse, bases_);
  runs_[index(step)] = forward && reverse ? Run::kFree : forward ? Run::kForward : Run::kReverse;
}

void Placer::place_one(int64_t item, Fit fit) {
  if (instance_[item].fixed) return;
  std::vector<int64_t> open;
  for (const int64_t step : instance_.coupled_steps_of(item)) {
    if (runs_[index(step)] != Run::kFree) continue;
    if (open.size() < kMostOpenSteps) {
      open.push_back(step);
    } else {
      const bool forward = instance_.step_allows(step, Run::kForward, bases_);
      runs_[index(step)] = forward ? Run::kForward : Run::kReverse;
    }
  }
  if (open.empty()) {
    bases_[index(item)] = find_spot(item, fit).base;
    return;
  }
  // Every combination of directions of the open steps; the lowest base wins.
  int64_t best = kNoLimit;
  for (size_t choice = 0; choice < size_t{1} << open.size(); ++choice) {
    const auto run_of = [&](size_t s) {
      return (choice >> s & 1U) != 0 ? Run::kReverse : Run::kForward;
    };
    bool possible = true;
    for (size_t s = 0; s < open.size(); ++s) {
      possible = possible && instance_.step_allows(open[s], run_of(s), bases_);
      runs_[index(open[s])] = run_of(s);
    }
    if (possible) best = std::min(best, find_spot(item, fit).base);
  }
  CHECK(best != kNoLimit);
  bases_[index(item)] = best;
  for (const int64_t step : open) decide(step);
}

Placement Placer::place(std::span<const int64_t> order, Fit fit) {
  bases_.assign(index(instance_.size()), -1);
  runs_ = instance_.decided();
  // Fixed items come first, whatever the order, and may settle how their steps run.
  bool any_fixed = false;
  for (const int64_t item : order) {
    if (!instance_[item].fixed) continue;
    bases_[index(item)] = *instance_[item].fixed;
    any_fixed = true;
  }
  for (size_t s = 0; any_fixed && s < runs_.size(); ++s)
    if (runs_[s] == Run::kFree) decide(static_cast<int64_t>(s));
  int64_t until_clock = kItemsPerClock;
  for (size_t k = 0; k < order.size(); ++k) {
    if (deadline_ && --until_clock == 0) {
      until_clock = kItemsPerClock;
      if (is_over(deadline_)) {
        place_above(order.subspan(k));
        break;
      }
    }
    place_one(order[k], fit);
  }
  return {bases_, runs_, height_of(instance_, bases_)};
}

// What shares no byte with anything is right however the steps run.
void Placer::place_above(std::span<const int64_t> items) {
  int64_t top = height_of(instance_, bases_);
  for (const int64_t item : items) {
    if (instance_[item].fixed) continue;
    bases_[index(item)] = instance_[item].align(top);
    top = bases_[index(item)] + instance_[item].extent;
  }
}

Placement place_greedily(const Instance& instance, int64_t bound, int64_t pairs,
                         Deadline deadline) {
  // Those that win most often come first.
  constexpr Order kOrders[] = {Order::kSize,      Order::kArea,     Order::kBreadth, Order::kBegin,
                               Order::kConflicts, Order::kDuration, Order::kEnd};
  Placer placer(instance, deadline);
  Placement best;
  best.height = kNoLimit;
  const int64_t pairs_each = instance.num_member_pairs() + instance.size() + 1;
  for (const Order order : kOrders) {
    if (best.height != kNoLimit && (pairs < pairs_each || is_over(deadline))) return best;
    const std::vector<int64_t> items = sorted_items(instance, order);
    for (const Fit fit : {Fit::kFirst, Fit::kBest}) {
      if (best.height != kNoLimit && (pairs < pairs_each || is_over(deadline))) return best;
      pairs -= pairs_each;
      Placement placement = placer.place(items, fit);
      if (placement.height < best.height) best = std::move(placement);
      if (best.height <= bound) return best;
    }
  }
  return best;
}

Placement climb(const Instance& instance, Placement best, int64_t bound, int64_t steps,
                Deadline deadline) {
  const int64_t n = instance.size();
  if (n < 2) return best;
  // Start from the order in which the bases of `best` ascend: replayed, it gives no greater height.
  std::vector<int64_t> order(index(n));
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(
      order, {}, [&](int64_t i) { return std::pair(!instance[i].fixed, best.bases[index(i)]); });
  Random random;
  Placer placer(instance, deadline);
  Placement current = placer.place(order, Fit::kFirst);
  if (current.height < best.height) best = current;
  std::vector<int64_t> scratch;
  for (int64_t step = 0; step < steps && best.height > bound && !is_over(deadline); ++step) {
    // The bottleneck: from a topmost item down a random chain of supports.
    std::vector<int64_t> position(index(n));
    for (int64_t p = 0; p < n; ++p) position[index(order[index(p)])] = p;
    std::vector<int64_t> chain;
    for (int64_t i = 0; i < n; ++i)
      if (current.bases[index(i)] + instance[i].extent == current.height) chain.push_back(i);
    std::vector<int64_t> candidates;
    for (size_t c = 0; c < chain.size() && c < 64; ++c) {
      for (const int64_t j : instance.neighbours(chain[c], scratch)) {
        if (instance[j].fixed) continue;
        candidates.push_back(j);
        const bool supports =
            current.bases[index(j)] + instance[j].extent == current.bases[index(chain[c])];
        if (supports && std::ranges::find(chain, j) == chain.end()) chain.push_back(j);
      }
    }
    std::erase_if(chain, [&](int64_t i) { return instance[i].fixed.has_value(); });
    if (chain.empty()) break;
    const int64_t one = chain[index(random.below(static_cast<int64_t>(chain.size())))];
    int64_t other = random.below(n);
    if (!candidates.empty() && random.below(10) < 7)
      other = candidates[index(random.below(static_cast<int64_t>(candidates.size())))];
    if (one == other || instance[other].fixed) continue;
    std::vector<int64_t> changed = order;
    std::swap(changed[index(position[index(one)])], changed[index(position[index(other)])]);
    Placement placement = placer.place(changed, Fit::kFirst);
    if (placement.height > current.height) continue;
    order = std::move(changed);
    current = std::move(placement);
    if (current.height < best.height) best = current;
  }
  return best;
}

}  // namespace ingot::plan
