// SPDX-License-Identifier: Apache-2.0
// How near an output may start to an input of the call that writes it: as NAME.json states it, and
// as the run shows it.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "assay/layout.h"
#include "assay/machine.h"

namespace ingot::assay {

// In which a call runs.
enum Direction : size_t { kForward, kReverse };

// By direction, the least safe
//     offset(input) - offset(output) if the call runs forward,
//     offset(output) - offset(input) if it runs in reverse;
// so many bytes as the front one has where the two may not overlap.
using Least = std::array<int64_t, 2>;

struct Pair {
  size_t output = 0;  // lives
  size_t input = 0;
  int64_t step = 0;      // the call
  Least apart = {};      // where they do not overlap
  Least stated = apart;  // where nothing is stated, they may not
  Least needed = apart;  // as the run has shown: the less of the call as it runs and turned round
  bool is_stated = false;
  Direction runs = kForward;  // as stated
};

// All pairs of which something is stated, and, where overlap is allowed, all others of one call
// that another order of the calls could let share bytes; by call.
using Pairs = std::vector<std::vector<Pair>>;

// Of a call; none if there is no such call.
std::span<const Pair> pairs_of(const Pairs& pairs, int64_t call);
// What is stated of two lives; null if nothing.
const Pair* find_stated(const Layout& layout, const Pairs& pairs, size_t output, size_t input);
// The most bytes that an output and an input may share, in either direction.
int64_t most_shared(const Least& least, const Least& apart);

// Throws Lie (assay/code.h) unless what NAME.json states is of buffers that begin and end in that
// step, which writes the one and reads the other, and says of every step in which direction it
// runs.
Pairs read_pairs(const Layout& layout);
// Throws Lie if two buffers that are alive together share bytes, but as they may.
void check_places(const Layout& layout, const Pairs& pairs);
// What the run shall show, in the order of the pairs.
std::vector<Distance> wanted_distances(const Layout& layout, const Pairs& pairs);
// Takes what it has shown. Throws Lie if a stated distance is below that in the direction in which
// the call runs. What belongs to no tied group, and begins and ends in one step, must be stated; no
// distance may be above what the run shows, of either direction, nor lack where it would let more
// be shared. One that is too small for the direction in which the call does not run moves nothing
// and makes the lower bound smaller, so that less can be claimed (docs/memory_plan.md).
void set_needed(const Layout& layout, const std::vector<Distance>& seen, Pairs& pairs);

}  // namespace ingot::assay
