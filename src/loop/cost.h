// SPDX-License-Identifier: Apache-2.0
// What one run of a kernel executes, as counts: for reports and for choosing between schedules.
#pragma once
#include <cstdint>

#include "loop/program.h"

namespace ingot::loop {

struct Cost {
  int64_t multiplies = 0;  // of values: a vector multiplication counts its lanes
  int64_t loads = 0;       // of parameters, constants and local arrays; a vector load counts once
  int64_t stores = 0;      // likewise
  int64_t bytes_loaded = 0;
  int64_t bytes_stored = 0;
  int64_t calls = 0;       // of functions; what they execute is counted too
  int64_t iterations = 0;  // of all loops
  // On values and bounds, not indices; of a vector, once. A function that stands for an instruction
  // is one, whatever its body says.
  int64_t operations = 0;
  // False if branches depend on data (the dearer side counts), a loop's bounds do (it counts once),
  // or the budget ran out (loops count as often as their first iteration says).
  bool exact = true;
  bool operator==(const Cost&) const = default;
};

// Loops on whose variable no inner bound depends are multiplied out; others are gone through
// iteration by iteration, at most `budget` of them altogether. An index counts no multiplications:
// compilers strength-reduce them. Both alternatives of a select count.
Cost cost_of(const Program& program, const Kernel& kernel, int64_t budget = 100000);

}  // namespace ingot::loop
