// SPDX-License-Identifier: Apache-2.0
// Which buffers have to leave a pool that is too small for all that like it best.
//
// What leaves and what stays is decided by units: single buffers or whole tied groups. A sweep over
// time watches what the live buffers need at least; wherever that exceeds the capacity, the unit
// that costs least leaves: the smallest that frees enough by itself, else the largest, of equals
// the one that lives longest. What left goes back, the largest first, where it still fits.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "plan/plan.h"

namespace ingot::plan {

// Buffers that are placed as one.
struct Unit {
  std::vector<int64_t> buffers;  // ascending
  std::vector<int64_t> pools;    // where it may lie, best first
  bool is_fixed = false;
  Interval lifetime;         // the hull of those that take space
  int64_t extent_bytes = 0;  // from its lowest byte to its highest
};

// The units of `problem`, by their first buffer.
std::vector<Unit> units_of(const Problem& problem);

// Of the units `inside` (indices, ascending) of a pool of `capacity` bytes, those that are to leave
// it so that no load exceeds the capacity; only such as `may_leave` (by unit). Ascending.
std::vector<int64_t> overfull_units(const Problem& problem, std::span<const Unit> units,
                                    std::span<const int64_t> inside, int64_t capacity,
                                    const std::vector<bool>& may_leave);

}  // namespace ingot::plan
