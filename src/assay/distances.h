// SPDX-License-Identifier: Apache-2.0
// How near an output may start to an input of the call that writes it: as NAME.json states it, and
// as the run shows it.
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "assay/layout.h"
#include "assay/machine.h"

namespace ingot::assay {

// In which a call runs.
enum Direction : size_t { kForward, kReverse };

// By direction, the least safe
//     offset(input) - offset(output) if the call runs forward,
//     offset(output) - offset(input) if it runs in reverse;
// nothing where the two may not overlap.
using Least = std::array<std::optional<int64_t>, 2>;

struct Pair {
  size_t output = 0;  // lives
  size_t input = 0;
  int64_t step = 0;  // the call
  bool is_stated = false;
  Least stated = {};
  // As the run has shown, by distances between which the two share bytes or touch: of the call as
  // it runs and turned round, or the less of both if nothing says how it runs.
  Least needed = {};
};

// The most cells that an output and an input of so many cells may share, in either direction.
int64_t most_shared(const Least& least, int64_t output, int64_t input, int64_t cell_bytes);

// All pairs of which something is stated, and, where overlap is allowed, all others of one call
// that another order of the calls could let share bytes. What throws, throws Lie (assay/code.h).
class Distances {
 public:
  // Throws unless what NAME.json states is of buffers that begin and end in that step, which writes
  // the one and reads the other, and says of every step in which direction it runs.
  explicit Distances(const Layout& layout);

  const std::vector<Pair>& all() const { return pairs_; }
  // What is stated; null if nothing.
  const Pair* find(size_t output, size_t input) const;
  // Nothing if nothing is stated of that call.
  std::optional<Direction> direction_of(int64_t step) const;
  // Throws if two buffers that are alive together share bytes, but as they may.
  void check_places() const;
  // What the run shall show, in the order of all().
  std::vector<Distance> wanted() const;
  // Throws if a stated distance is below what the run has shown, of the direction in which the call
  // runs. What belongs to no tied group, and begins and ends in one step, must be stated; no
  // distance may be above what the run shows, of either direction, nor lack where it would let more
  // be shared.
  void set_needed(const std::vector<Distance>& seen);

 private:
  void add_stated(const Json& json);
  void add_others(size_t call);
  void check(const Pair& pair, Direction runs) const;
  bool allow(size_t a, size_t b) const;
  std::string title_of(const Pair& pair) const;

  const Layout& layout_;
  std::vector<Pair> pairs_;
  std::map<std::pair<size_t, size_t>, size_t> stated_;  // by output and input
  std::map<int64_t, Direction> runs_;                   // by step
};

}  // namespace ingot::assay
