// SPDX-License-Identifier: Apache-2.0
// Exact packing of plain items (one member each, no overlaps) by branch and bound over skylines.
//
// Time is cut into sections, one per maximal set of items alive together. Reading addresses
// upwards, the items placed so far form a skyline: each section has a floor below which nothing
// more is placed. Every packing can be compacted until each item rests on another one, on a fixed
// offset's needs, or on address 0, and then it is built by filling the skyline's niches - runs of
// sections at one floor with higher neighbours. A node of the search picks a section of a niche
// and asks what covers it at its floor: one of the items that lie inside the niche, or nothing.
// Exactly one answer is true of a compacted packing, so no packing is met twice, and the section
// with the fewest answers may be asked first, wherever it is.
//   Inference: floor + bytes still to be placed must stay within the height in every section; a
// floor rises to the least offset that any of the section's items can still take.
//   Waste: if nothing lies at the floor, the lowest item of the section rests on an item that is
// not yet placed and beside the section, which says how far the floor rises.
//   Decomposition: where no unplaced item crosses, the sides are solved one after the other, and a
// failure of one is a failure of both.
//   Memory: a failed state (unplaced items, floors) is remembered by a 64-bit hash and not searched
// again.
//   Symmetry: of equal items the first is placed first; equal lifetimes on top of each other are
// stacked by index.
#pragma once
#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "plan/items.h"

namespace ingot::plan {

enum class Verdict { kPacked, kImpossible, kOutOfNodes };

using Deadline = std::optional<std::chrono::steady_clock::time_point>;

class Skyline {
 public:
  // Whether every item is plain, so that this search applies.
  static bool applies(const Instance& instance);

  explicit Skyline(const Instance& instance);

  // Looks for a packing of at most `height` bytes, visiting at most `nodes` nodes. Run times differ
  // wildly with the order in which sections are asked and answers tried, so `variant` (any number
  // from 0) chooses among many orders; call with another one after kOutOfNodes. Failures are
  // remembered between calls of one height. Stops at `deadline` as if out of nodes.
  Verdict search(int64_t height, int64_t nodes, int64_t variant, Deadline deadline = {});

  // After kPacked: the bases of the items.
  const std::vector<int64_t>& bases() const { return offset_; }
  int64_t visited() const { return visited_; }

 private:
  struct Change {
    int64_t* where;
    int64_t old;
  };
  struct Range {
    int64_t first, last;
  };
  // How one run chooses.
  struct Style {
    enum class Answer { kWide, kLargeArea, kLarge };
    Answer first = Answer::kWide;
    bool by_blame = false;  // prefer sections that often fail, else low ones
    double lowness = 2;     // how much a low floor counts against one answer more
    uint64_t noise = 3;     // how many of 8 neighbours in the order of answers are swapped; 0: none
  };

  void add_sections(const Instance& instance);
  void reset(int64_t height);
  void set(int64_t& where, int64_t value) {
    trail_.push_back({&where, where});
    where = value;
  }
  std::span<const int64_t> unplaced(int64_t section) const;
  void remove_from_row(int64_t section, int64_t item);
  int64_t floor_key(int64_t section, int64_t floor) const;
  void undo(size_t mark);
  bool raise_floor(int64_t section, int64_t floor);
  bool propagate();
  bool place(int64_t item);
  bool is_first_of_its_kind(int64_t item) const;
  int64_t floor_after_waste(int64_t section) const;
  Verdict solve(Range range);
  Verdict branch(Range range);
  bool waste(int64_t section);
  int64_t num_answers(int64_t section) const;
  int64_t choose(Range range) const;
  void add_answers(int64_t section);
  uint64_t key_of(Range range) const;

  // Items.
  int64_t n_ = 0;
  std::vector<int64_t> first_, last_;              // sections [first, last)
  std::vector<int64_t> size_, alignment_, fixed_;  // in units; fixed_: -1 if it is not
  std::vector<int64_t> byte_size_;
  std::vector<int64_t> twin_;              // an earlier equal item, or -1
  std::vector<int64_t> kind_;              // equal for items of equal sections
  std::vector<int64_t> lowest_, highest_;  // the offsets it can still take
  std::vector<int64_t> placed_;            // 0 or 1
  std::vector<int64_t> offset_;
  std::vector<uint64_t> item_hash_;
  // Sections.
  int64_t num_sections_ = 0;
  // The items of each section, those still to be placed in front; where in row_items_ each item of
  // the section stands is found through slot_[first_slot_[item] + section - first_[item]].
  std::vector<int64_t> row_, row_items_, first_slot_, slot_;
  std::vector<int64_t> floor_, total_, count_, top_;
  std::vector<int64_t> crossing_;  // unplaced items that cross the boundary before the section
  std::vector<int64_t> key_;       // a hash of the floor and the unplaced items that begin there
  // The search.
  int64_t unit_ = 1;                       // all offsets are multiples of it
  int64_t height_ = 0, height_bytes_ = 0;  // height_ in units, rounded up
  Style style_;
  uint64_t random_ = 0;
  Deadline deadline_;
  int64_t visited_ = 0, limit_ = 0, until_clock_ = 0;
  std::vector<Change> trail_;
  std::vector<int64_t> queue_, queued_;  // sections whose items' least offsets rose
  std::vector<double> blame_;            // how often the section made a state impossible
  std::vector<uint64_t> failed_;         // keys of failed states, by key modulo size
  std::vector<int64_t> answers_;         // of all open nodes, one after the other
  std::vector<Range> parts_;             // likewise
};

}  // namespace ingot::plan
