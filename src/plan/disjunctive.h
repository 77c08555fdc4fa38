// SPDX-License-Identifier: Apache-2.0
// Exact placement of any instance - tied groups, overlaps of either sign, directions, fixed
// offsets, alignments - by branch and bound over difference constraints.
//
// A node holds constraints base(j) >= base(i) + w and their least solution. If that breaks no gap
// it is the lowest placement of the node, since heights only grow with bases. Otherwise a broken
// pair is put one way round or the other, or a step that can run neither way is given a direction.
// Unlike the canonical search it needs no order of placement, and so it is complete where an item
// may rest on one that begins above it; it is meant for instances of some dozen items, and for
// larger ones whose least height is near the load.
#pragma once
#include <cstdint>
#include <vector>

#include "plan/canonical.h"
#include "plan/items.h"

namespace ingot::plan {

class Disjunctive {
 public:
  explicit Disjunctive(const Instance& instance);

  // Lowers `best` (a valid placement) as far as `nodes` nodes allow, not below `bound`. Returns
  // kImpossible if nothing lower than the final `best` exists, kPacked if it reached `bound`.
  Verdict improve(Placement& best, int64_t bound, int64_t nodes, Deadline deadline = {});
  // Looks for a placement of at most `height` bytes, less than that of `best`, and puts it there.
  Verdict decide(Placement& best, int64_t height, int64_t nodes, Deadline deadline = {});

 private:
  struct Arc {
    int64_t to, weight;
  };
  struct Change {
    int64_t item, old_base;
  };
  struct Mark {
    size_t changes, arcs, runs;
  };
  struct Break {
    int64_t first = -1, second = -1;  // a pair and the gap that holds it
    Gap gap;
    int64_t step = -1;  // or a step
  };
  // What one time point says: these parts share no byte whatever the directions.
  struct Clique {
    std::vector<Member> members;
    std::vector<int64_t> items;
  };

  void add_cliques();
  Mark mark() const { return {changes_.size(), arcs_from_.size(), decided_.size()}; }
  void undo(const Mark& mark);
  bool raise(int64_t item, int64_t base);
  bool propagate();
  bool cliques_fit();
  bool add_arc(int64_t from, int64_t to, int64_t weight);
  Break find_break();
  Verdict search(Placement& best, int64_t bound);
  Verdict start(Placement& best, int64_t height, int64_t bound, int64_t nodes, Deadline deadline);
  Verdict follow(Placement& best, int64_t bound, bool possible);

  const Instance& instance_;
  std::vector<std::pair<int64_t, int64_t>> pairs_;
  std::vector<Clique> cliques_;
  std::vector<int64_t> bases_;
  std::vector<Run> runs_;
  std::vector<std::vector<Arc>> arcs_;
  std::vector<Change> changes_;
  std::vector<int64_t> arcs_from_, decided_;
  std::vector<int64_t> queue_;
  std::vector<bool> queued_;
  std::vector<Gap> gaps_;
  int64_t height_ = 0;  // the next placement must be at most this high
  int64_t visited_ = 0, limit_ = 0, until_clock_ = 0;
  bool gave_up_ = false;  // a node was dropped without proof
  Deadline deadline_;
};

}  // namespace ingot::plan
