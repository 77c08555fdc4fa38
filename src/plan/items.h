// SPDX-License-Identifier: Apache-2.0
// The planner's problem in the form that all solvers of plan/ share: one pool, and items instead of
// buffers. An item is a single buffer or a whole tied group, and has one offset (its base, that
// of its lowest member). What two items may not do is a set of open intervals of the difference of
// their bases; lifetimes, sizes, tied groups and overlaps inside operators all end up there.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "plan/plan.h"

namespace ingot::plan {

// A member of an item: `size` bytes from base + `start`, alive during `lifetime`.
struct Member {
  int64_t buffer = 0;
  Interval lifetime;
  int64_t start = 0;
  int64_t size = 0;
};

// Where a buffer of an item begins.
struct Part {
  int64_t buffer = 0;
  int64_t start = 0;
};

struct Item {
  std::vector<Part> parts;      // all its buffers
  std::vector<Member> members;  // those that take space
  Interval lifetime;            // the hull of the members'
  int64_t extent = 0;           // the greatest start + size
  int64_t alignment = 1;        // base == residue (mod alignment)
  int64_t residue = 0;          // in [0, alignment)
  std::optional<int64_t> fixed = {};

  // The least allowed base that is at least `offset`.
  int64_t align(int64_t offset) const;
};

// The integers x with below < x < above.
struct Gap {
  int64_t below = 0;
  int64_t above = 0;

  bool empty() const { return above - below <= 1; }
  bool holds(int64_t x) const { return below < x && x < above; }
};

// How the steps run, one entry per step of an instance. A step that is still free may run either
// way for each of its overlaps; it is decided as soon as two of them would disagree.
enum class Run : int8_t { kFree, kForward, kReverse };

// An overlap between two members, by item.
struct ItemOverlap {
  int64_t output_item = 0, input_item = 0;
  int64_t output_member = 0, input_member = 0;
  int64_t step = 0;  // index into Instance::steps
  std::optional<int64_t> forward, reverse;
};

class Instance {
 public:
  // The buffers of `problem` listed in `buffers`, which must hold whole groups. `decided` are the
  // directions that are already chosen.
  Instance(const Problem& problem, std::span<const int64_t> buffers,
           std::span<const StepDirection> decided);

  int64_t size() const { return static_cast<int64_t>(items_.size()); }
  const Item& operator[](int64_t item) const { return items_[static_cast<size_t>(item)]; }

  // The items that may be alive together with `item`, ascending. May use `scratch`.
  std::span<const int64_t> neighbours(int64_t item, std::vector<int64_t>& scratch) const;
  // The number of pairs of neighbours.
  int64_t num_pairs() const { return num_pairs_; }
  // The pairs of their members: what placing all items once looks at.
  int64_t num_member_pairs() const { return num_member_pairs_; }

  // Appends the gaps of x = base(i) that the bases (-1: not known) of its neighbours leave none in.
  void add_gaps_around(int64_t i, std::span<const int64_t> bases, std::span<const Run> runs,
                       std::vector<int64_t>& scratch, std::vector<Gap>& gaps) const;
  // Appends the gaps of x = base(j) - base(i).
  void add_gaps(int64_t i, int64_t j, std::span<const Run> runs, std::vector<Gap>& gaps) const;

  const std::vector<int64_t>& steps() const { return steps_; }  // their numbers in the problem
  const std::vector<Run>& decided() const { return decided_; }
  const std::vector<ItemOverlap>& overlaps() const { return overlaps_; }
  // Indices into overlaps().
  std::span<const int64_t> overlaps_of_step(int64_t step) const;
  // The steps with at least two overlaps of which `item` has one: their direction couples pairs.
  std::span<const int64_t> coupled_steps_of(int64_t item) const;
  // Whether every pair of the step whose bases are both known (>= 0) is right with it run so.
  bool step_allows(int64_t step, Run run, std::span<const int64_t> bases) const;

 private:
  void add_items(const Problem& problem, std::span<const int64_t> buffers);
  void add_overlaps(const Problem& problem, std::span<const StepDirection> decided);
  void add_neighbours();
  Gap gap_of(const ItemOverlap& overlap, Run run) const;  // of input base - output base

  std::vector<Item> items_;
  std::vector<int64_t> item_of_, member_of_;  // by buffer; -1: takes no space
  std::vector<int64_t> steps_;
  std::vector<Run> decided_;
  std::vector<ItemOverlap> overlaps_;
  std::vector<std::vector<int64_t>> overlaps_of_step_, overlaps_of_item_, coupled_steps_of_;
  std::vector<std::vector<int64_t>> partners_of_;  // the items it has overlaps with, ascending
  // By item, side by side, as the planner's time is that of looking at pairs.
  std::vector<Interval> lifetimes_;
  std::vector<int64_t> plain_size_;                    // -1: has not just one member
  std::vector<int64_t> first_neighbour_, neighbours_;  // rows; empty if there are too many pairs
  int64_t num_pairs_ = 0;
  int64_t num_member_pairs_ = 0;
};

// Bases for all items of an instance, and the directions that make them right.
struct Placement {
  std::vector<int64_t> bases;
  std::vector<Run> runs;
  int64_t height = 0;
};

// The greatest end of a placed item.
int64_t height_of(const Instance& instance, std::span<const int64_t> bases);

}  // namespace ingot::plan
