// SPDX-License-Identifier: Apache-2.0
// How near an output may start to an input that dies in the call that writes it: as NAME.json
// states it, and as the run shows it. The checks throw Lie (assay/code.h).
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "assay/json.h"
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

// What a run has seen of a call that `runs` so, as distances between which the two share bytes or
// touch.
Least least_seen(const Distance& seen, const Buffer& output, const Buffer& input, Direction runs);
// The most cells that an output and an input of so many cells may share, in either direction.
int64_t most_shared(const Least& least, int64_t output, int64_t input, int64_t cell_bytes);

// NAME.json's plan.distances.
class Distances {
 public:
  struct Stated {
    int64_t step = -1;
    Least least = {};
    Direction runs = kForward;
  };

  explicit Distances(const Json& json);
  using Names = std::pair<std::string, std::string>;  // of an output and an input
  const std::map<Names, Stated>& all() const { return stated_; }
  const Stated* find(const Buffer& output, const Buffer& input) const;
  // Nothing if nothing is stated of that call.
  std::optional<Direction> direction_of(int64_t step) const;
  // They are of buffers that begin and end in that step, which writes the one and reads the other.
  void check(const Layout& layout) const;
  // No two of the buffers that are alive together share bytes, but as they may.
  void check_pairs(std::vector<Life> lives) const;
  // All pairs of which the run shall show how near they may come, where overlap is allowed: those
  // stated, and all others of an output and an input of one call, which another order of the calls
  // could let share bytes.
  std::vector<Distance> wanted(const Layout& layout) const;
  // None is below what the run has shown of `wanted`; and if a plan is said to be optimal within
  // them, none is above or missing where one begins in the step in which the other ends. (Of the
  // direction in which the step does not run a lower bound knows by its distance alone: one that is
  // missing makes no bound greater.)
  void check_against(const std::vector<Distance>& derived, const Layout& layout) const;

 private:
  bool allow(const Buffer& a, const Buffer& b) const;

  std::map<Names, Stated> stated_;
  std::map<int64_t, Direction> runs_;  // by step
};

}  // namespace ingot::assay
