// SPDX-License-Identifier: Apache-2.0
#include "plan/pack.h"

#include <algorithm>
#include <numeric>

#include "plan/disjunctive.h"
#include "plan/greedy.h"
#include "support/arithmetic.h"

namespace ingot::plan {
namespace {

// Hill climbing may look at so many pairs of items in all.
constexpr int64_t kClimbPairs = 50'000'000;
constexpr int64_t kMostCanonicalItems = 20'000;
constexpr int64_t kMostDisjunctivePairs = 20'000;
// Counting sums of sizes may cost so many steps.
constexpr int64_t kMostSums = 100'000'000;
// Nodes of the shortest run of the canonical search; others are powers of two times this.
constexpr int64_t kRun = 1'000;

size_t index(int64_t i) { return static_cast<size_t>(i); }

// 1, 1, 2, 1, 1, 2, 4, ... (Luby, Sinclair, Zuckerman): the best lengths of runs if nothing is
// known about how long the luckiest takes.
int64_t luby(int64_t run) {
  int64_t length = 1;
  for (int64_t r = run + 1; r % 2 == 0; r /= 2) length *= 2;
  return length;
}

// Decides heights from both ends: the lower bound, where a success proves itself, and heights
// between it and the best plan, where a success is a better plan.
class HeightSearch {
 public:
  HeightSearch(const Instance& instance, Packing& packing, int64_t nodes, Deadline deadline)
      : packing_(packing),
        canonical_(instance),
        reachable_(instance, packing.placement.height),
        instance_(instance),
        nodes_(nodes),
        deadline_(deadline) {}

  void run() {
    packing_.lower_bound = reachable_.at_least(packing_.lower_bound);
    target_ = packing_.lower_bound;
    for (int64_t round = 0; open(); ++round) {
      // Three of four runs at the bound; as long as nothing came of them, the fourth tries a
      // greater height, each time half way nearer to the best plan.
      const bool at_bound = round % 4 != 3;
      const int64_t target = at_bound ? packing_.lower_bound : next_target();
      const int64_t length = at_bound ? kRun * luby(round) : 4 * kRun * effort_;
      if (decide(target, length, round) == Verdict::kOutOfNodes) continue;
      target_ = packing_.lower_bound;
    }
  }

 private:
  bool open() const {
    return packing_.placement.height > packing_.lower_bound && canonical_.visited() < nodes_ &&
           (!deadline_ || std::chrono::steady_clock::now() < *deadline_);
  }

  int64_t next_target() {
    const int64_t highest = reachable_.below(packing_.placement.height);
    if (target_ >= highest) {
      target_ = packing_.lower_bound;
      effort_ *= 2;
    }
    const int64_t middle = target_ + ceil_div(highest - target_, 2);
    target_ = std::min(highest, reachable_.at_least(middle));
    return target_;
  }

  Verdict decide(int64_t height, int64_t length, int64_t variant) {
    const int64_t nodes = std::min(length, nodes_ - canonical_.visited());
    const Verdict verdict = canonical_.search(height, nodes, variant, deadline_);
    if (verdict == Verdict::kPacked) {
      Placement& best = packing_.placement;
      best.bases = canonical_.bases();
      best.height = height_of(instance_, best.bases);
    }
    if (verdict == Verdict::kImpossible)
      packing_.lower_bound = std::min(reachable_.at_least(height + 1), packing_.placement.height);
    return verdict;
  }

  Packing& packing_;
  Canonical canonical_;
  ReachableHeights reachable_;
  const Instance& instance_;
  int64_t nodes_;
  Deadline deadline_;
  int64_t target_ = 0;
  int64_t effort_ = 1;
};

}  // namespace

ReachableHeights::ReachableHeights(const Instance& instance, int64_t high) {
  int64_t divisor = 0;
  for (int64_t i = 0; i < instance.size(); ++i) {
    if (instance[i].alignment != 1 || instance[i].fixed) return;
    divisor = std::gcd(divisor, instance[i].extent);
  }
  if (divisor == 0 || !instance.overlaps().empty()) return;
  const int64_t limit = ceil_div(high, divisor);
  if (limit > kMostSums / std::max<int64_t>(1, instance.size())) return;
  unit_ = divisor;
  sums_.assign(index(limit + 1), false);
  sums_[0] = true;
  for (int64_t i = 0; i < instance.size(); ++i) {
    const int64_t size = instance[i].extent / divisor;
    for (int64_t sum = limit; sum >= size; --sum)
      if (sums_[index(sum - size)]) sums_[index(sum)] = true;
  }
}

int64_t ReachableHeights::at_least(int64_t height) const {
  if (sums_.empty()) return height;
  for (int64_t h = ceil_div(height, unit_); h < static_cast<int64_t>(sums_.size()); ++h)
    if (sums_[index(h)]) return h * unit_;
  return height;
}

int64_t ReachableHeights::below(int64_t height) const {
  if (sums_.empty()) return height - 1;
  for (int64_t h = ceil_div(height, unit_) - 1; h > 0; --h)
    if (h < static_cast<int64_t>(sums_.size()) && sums_[index(h)]) return h * unit_;
  return height - 1;
}

Packing pack(const Instance& instance, int64_t bound, const Limits& limits, Deadline deadline) {
  Packing packing;
  packing.placement = place_greedily(instance, bound);
  packing.lower_bound = bound;
  if (packing.placement.height <= bound) return packing;
  const bool plain = Canonical::applies(instance) && instance.size() <= kMostCanonicalItems;
  const int64_t affordable = kClimbPairs / (instance.num_pairs() + instance.size() + 1);
  const int64_t steps = std::min(limits.climb_steps, affordable);
  packing.placement = climb(instance, std::move(packing.placement), bound, steps);
  if (packing.placement.height <= bound || limits.search_nodes == 0) return packing;
  if (plain) {
    HeightSearch(instance, packing, limits.search_nodes, deadline).run();
  } else if (instance.num_pairs() <= kMostDisjunctivePairs) {
    Disjunctive search(instance);
    const Verdict verdict = search.improve(packing.placement, bound, limits.search_nodes, deadline);
    if (verdict == Verdict::kImpossible) packing.lower_bound = packing.placement.height;
  }
  return packing;
}

}  // namespace ingot::plan
