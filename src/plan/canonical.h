// SPDX-License-Identifier: Apache-2.0
// Exact packing of plain items (one member each, no overlaps) by branch and bound over canonical
// sequences.
//
// Of all packings within the height, think of one with the least sum of offsets. In it every item
// rests on another one, on a fixed offset's needs, or on address 0. Listed by offset, ties by a
// fixed order of the items (the preorder), the packing is one sequence, and a node of the search
// is a beginning of it: items placed in this order, each at the least offset that those below it
// leave. The next item is then either the first candidate by (offset, preorder), or not - which
// says a lot about that candidate: it rests on an item that is still to come.
//   Inference: an unplaced item that was passed over, or whose offset is otherwise excluded, is at
// least as high as the lowest top that one of its unplaced neighbours can have. No unplaced item is
// below the last one placed. In every section of time (a maximal set of items alive together) the
// least offset of the unplaced items and their bytes must stay within the height.
//   Dominance: if the next offset is above where some unplaced item would end, that item could have
// been put beneath it, and the sum would be less.
//   Decomposition: where no unplaced item crosses, the sides are solved one after the other, and a
// failure of one is a failure of both.
//   Symmetry: of equal items the first in the preorder is the lowest.
//   Memory: a failed state (unplaced items and their least offsets) is remembered by a 64-bit hash.
// Run times differ wildly with the preorder, so it is varied between short runs; sections that made
// states fail are blamed and their items come first.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "plan/deadline.h"
#include "plan/items.h"

namespace ingot::plan {

enum class Verdict { kPacked, kImpossible, kOutOfNodes };

class Canonical {
 public:
  // Whether every item is plain and few enough are alive together (the search keeps lists of
  // pairs), so that this search applies.
  static bool applies(const Instance& instance);

  // Keeps a reference to the instance.
  explicit Canonical(const Instance& instance);

  // Looks for a packing of at most `height` bytes, visiting at most `nodes` nodes. `variant` (any
  // number from 0) chooses the preorder; call with another one after kOutOfNodes. Failures are
  // remembered between calls of one height. Stops at `deadline` as if out of nodes.
  Verdict search(int64_t height, int64_t nodes, int64_t variant, Deadline deadline = {});

  // After kPacked: the bases of the items.
  const std::vector<int64_t>& bases() const { return bases_; }
  int64_t visited() const { return visited_; }

 private:
  struct Change {
    int64_t* where;
    int64_t old;
  };
  // Sections [first, last), and the unplaced items that lie in them: pool_[begin, end).
  struct Part {
    int64_t first, last;
    int64_t begin, end;
  };
  // An item as the instance has it, in units.
  struct Given {
    int64_t first = 0, last = 0;  // sections [first, last)
    int64_t size = 0, alignment = 1, fixed = -1;
    int64_t bytes = 0;
    int64_t equals = 0;  // the same number for items that are interchangeable
    uint64_t hash = 0;
  };

  void choose_unit(const Instance& instance);
  void add_sections(const Instance& instance);
  void add_equals();
  std::vector<int64_t> preorder(int64_t variant) const;
  bool reset(int64_t height, int64_t variant);
  void reset_items(int64_t height);
  void reset_neighbours();
  void reset_rows();
  void set(int64_t& where, int64_t value) {
    trail_.push_back({&where, where});
    where = value;
  }
  void undo(size_t mark);
  void raise(int64_t item, int64_t offset);
  void remove_from_row(int64_t section, int64_t item);
  bool raise_waiting(const Part& part, int64_t from);
  bool raise_one(int64_t item, int64_t from);
  bool propagate(const Part& part, int64_t from);
  bool place(int64_t item, const Part& part);
  bool pass(int64_t item, const Part& part);
  uint64_t key_of(const Part& part, int64_t from) const;
  int64_t least_top_of(const Part& part) const;
  int64_t next_candidate(const Part& part) const;
  Verdict solve(Part part, int64_t from);
  Verdict branch(Part part, int64_t from);

  const Instance& instance_;
  int64_t n_ = 0, num_sections_ = 0;
  int64_t unit_ = 1;  // all offsets are multiples of it
  std::vector<Given> given_;
  std::vector<int64_t> load_;   // of each section
  std::vector<double> blame_;   // how often the section made a state fail
  std::vector<int64_t> bases_;  // bytes, in the instance's order
  // Items in preorder.
  std::vector<int64_t> order_;  // the item of the instance
  std::vector<int64_t> first_, last_, size_, alignment_, fixed_;
  std::vector<int64_t> highest_;     // the greatest offset within the height
  std::vector<int64_t> base_;        // the least offset that the items placed below it leave
  std::vector<int64_t> lowest_;      // the least offset it may still take, at least base_
  std::vector<int64_t> placed_;      // 0 or 1
  std::vector<int64_t> support_;     // an unplaced item that lets a waiting one be as low as it is
  std::vector<int64_t> next_equal_;  // in preorder; -1: none
  std::vector<int64_t> first_neighbour_, neighbours_;
  // Sections. The items of each row, those still to be placed in front; where in row_items_ an item
  // of a section stands is slot_[first_slot_[item] + section].
  std::vector<int64_t> row_, row_items_, first_slot_, slot_;
  std::vector<int64_t> floor_, total_, count_;
  std::vector<int64_t> crossing_;  // unplaced items that cross the boundary before the section
  // The search.
  int64_t height_ = -1, height_bytes_ = -1;  // height_ in units, rounded up
  int64_t visited_ = 0, limit_ = 0, until_clock_ = 0;
  Deadline deadline_;
  bool cut_ = false;  // the last item placed was the last to cross some boundary
  std::vector<Change> trail_;
  std::vector<int64_t> pool_;
  std::vector<Part> parts_;              // of all open nodes
  std::vector<int64_t> queue_, queued_;  // sections whose floor may have risen
  std::vector<uint64_t> failed_;         // keys of failed states, by key modulo size
};

}  // namespace ingot::plan
