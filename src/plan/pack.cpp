// SPDX-License-Identifier: Apache-2.0
#include "plan/pack.h"

#include <algorithm>
#include <numeric>

#include "plan/disjunctive.h"
#include "plan/greedy.h"
#include "support/arithmetic.h"

namespace ingot::plan {
namespace {

constexpr int64_t kMostDisjunctivePairs = 20'000;
// Counting sums of sizes may cost so many steps.
constexpr int64_t kMostSums = 100'000'000;
// So many nodes are spent at the lower bound before anything else, and so many mostly there.
constexpr int64_t kFirstNodes = 20'000;
constexpr int64_t kHopefulNodes = 300'000;
// Nodes of the shortest run of the canonical search; others are powers of two times this.
constexpr int64_t kRun = 500;

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
        at_bound_(instance),
        above_(instance),
        reachable_(instance, packing.placement.height),
        instance_(instance),
        nodes_(nodes),
        deadline_(deadline) {
    packing_.lower_bound = reachable_.at_least(packing_.lower_bound);
  }

  // Only at the lower bound, which is the least height of most instances.
  void run_at_bound(int64_t nodes) {
    while (open() && visited() < nodes) decide_bound();
  }

  void run() {
    target_ = packing_.lower_bound;
    for (int64_t round = 0; open(); ++round) {
      // One of four runs, later most, try a greater height: each time half way nearer to the best
      // plan, as long as nothing comes of it.
      const bool hopeful = visited() < kHopefulNodes;
      const bool at_bound = hopeful ? round % 4 != 3 : round % 4 == 1;
      if (at_bound ? decide_bound() : decide_above()) target_ = packing_.lower_bound;
    }
  }

 private:
  bool open() const {
    return packing_.placement.height > packing_.lower_bound && visited() < nodes_ &&
           !is_over(deadline_);
  }

  int64_t visited() const { return at_bound_.visited() + above_.visited(); }

  bool decide_bound() {
    const int64_t run = bound_runs_++;
    return decide(at_bound_, packing_.lower_bound, kRun * luby(run), run);
  }

  bool decide_above() {
    const int64_t run = above_runs_++;
    return decide(above_, next_target(), kRun * luby(run), run);
  }

  int64_t next_target() {
    const int64_t highest = reachable_.below(packing_.placement.height);
    if (target_ >= highest) target_ = packing_.lower_bound;
    const int64_t middle = target_ + ceil_div(highest - target_, 2);
    target_ = std::min(highest, reachable_.at_least(middle));
    return target_;
  }

  // Whether the height is decided now.
  bool decide(Canonical& canonical, int64_t height, int64_t length, int64_t variant) {
    const int64_t nodes = std::min(length, nodes_ - visited());
    const Verdict verdict = canonical.search(height, nodes, variant, deadline_);
    if (verdict == Verdict::kPacked) {
      Placement& best = packing_.placement;
      best.bases = canonical.bases();
      best.height = height_of(instance_, best.bases);
    }
    if (verdict == Verdict::kImpossible)
      packing_.lower_bound = std::min(reachable_.at_least(height + 1), packing_.placement.height);
    return verdict != Verdict::kOutOfNodes;
  }

  Packing& packing_;
  // One each, as what they learn is about one height.
  Canonical at_bound_, above_;
  ReachableHeights reachable_;
  const Instance& instance_;
  int64_t nodes_;
  Deadline deadline_;
  int64_t target_ = 0;
  int64_t bound_runs_ = 0, above_runs_ = 0;
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
  packing.placement = place_greedily(instance, bound, limits.pairs, deadline);
  packing.lower_bound = bound;
  if (packing.placement.height <= bound) return packing;
  const int64_t nodes = limits.search_nodes;
  const bool plain = Canonical::applies(instance);
  std::optional<HeightSearch> search;
  if (plain && nodes > 0) {
    search.emplace(instance, packing, nodes, deadline);
    search->run_at_bound(std::min(kFirstNodes, nodes / 4));
  }
  // An item costs as much as several of its pairs.
  const int64_t affordable = limits.pairs / (instance.num_member_pairs() + 8 * instance.size() + 1);
  const int64_t steps = std::min(limits.climb_steps, affordable);
  if (steps > 0)
    packing.placement =
        climb(instance, std::move(packing.placement), packing.lower_bound, steps, deadline);
  if (packing.placement.height <= packing.lower_bound || nodes == 0) return packing;
  if (search) {
    search->run();
  } else if (instance.num_pairs() <= kMostDisjunctivePairs) {
    Disjunctive disjunctive(instance);
    Placement& best = packing.placement;
    Verdict verdict = disjunctive.decide(best, bound, nodes / 2, deadline);
    if (verdict == Verdict::kImpossible) packing.lower_bound = bound + 1;
    if (verdict != Verdict::kPacked)
      verdict = disjunctive.improve(best, packing.lower_bound, nodes / 2, deadline);
    if (verdict == Verdict::kImpossible) packing.lower_bound = best.height;
  }
  return packing;
}

}  // namespace ingot::plan
