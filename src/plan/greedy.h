// SPDX-License-Identifier: Apache-2.0
// Heuristics: place one item after the other, in some order, into the lowest or the tightest gap
// between those already placed. The orders are the ones in use elsewhere (by size as in
// TensorFlow Lite Micro, by conflicts as in TVM, by area, by time) and the hill climbing swaps
// neighbours of the bottleneck in the order, as Arm's Vela does.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "plan/deadline.h"
#include "plan/items.h"

namespace ingot::plan {

enum class Fit { kFirst, kBest };  // the lowest gap; the smallest gap that is large enough

enum class Order { kSize, kArea, kConflicts, kDuration, kBegin, kEnd, kBreadth };

// The items, the one to be placed first in front; fixed items come first. Ties: larger, then by
// index.
std::vector<int64_t> sorted_items(const Instance& instance, Order order);

// Places items one by one; keeps its working memory between runs.
class Placer {
 public:
  explicit Placer(const Instance& instance, Deadline deadline = {})
      : instance_(instance), deadline_(deadline) {}

  // Every item of `order` (a permutation of all items) in turn; those that come after the deadline
  // above all others.
  Placement place(std::span<const int64_t> order, Fit fit);

 private:
  struct Spot {
    int64_t base;
    int64_t room;  // of the gap it was found in; unlimited at the top
  };
  Spot find_spot(int64_t item, Fit fit);
  void place_one(int64_t item, Fit fit);
  void place_above(std::span<const int64_t> items);
  // Runs the step the only way that is still right; leaves it free if both are.
  void decide(int64_t step);

  const Instance& instance_;
  Deadline deadline_;
  std::vector<int64_t> bases_;  // -1: not yet placed
  std::vector<Run> runs_;
  std::vector<int64_t> scratch_;
  std::vector<Gap> gaps_;
};

// The lowest placement of all orders and fits, or as many of them as look at `pairs` pairs of items
// and end by the deadline, but one at least; stops early at `bound`.
Placement place_greedily(const Instance& instance, int64_t bound, int64_t pairs,
                         Deadline deadline = {});

// Improves `best` by at most `steps` replays with changed orders; stops early at `bound`, and at
// the deadline. Without one, the same answer on every machine.
Placement climb(const Instance& instance, Placement best, int64_t bound, int64_t steps,
                Deadline deadline = {});

}  // namespace ingot::plan
