// SPDX-License-Identifier: Apache-2.0
// Requantisation as a staircase, and the straight line under it.
//
// Whatever a rounding mode does, the output is a function of the accumulator that never falls: it
// is known by its steps, the least accumulators that give each value. A line
//
//   y = (acc * multiplier + offset) >> shift
//
// is the same function on all reachable accumulators if it lies in the right unit at both sides of
// every step: steps[q] * multiplier + offset >= q * 2^shift, and one accumulator before, less.
// These inequalities are the proof; how multiplier and offset were found does not matter to it.
//
// They are found exactly. For a fixed multiplier the offsets that will do are an interval; its ends
// are integers, and its length is a concave function of the multiplier, so that a bisection on its
// slope finds the integer with the longest interval, or that there is none.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "loop/affine.h"

namespace ingot {

using loop::Interval;

// From accumulator `at` on, until the next step, the output is `value`.
struct Stair {
  int64_t at = 0;
  int64_t value = 0;
  bool operator==(const Stair&) const = default;
};

// Accumulators domain.low .. domain.high; the first step is at domain.low, and `at` and `value`
// rise from step to step.
struct Staircase {
  Interval domain;
  std::vector<Stair> steps;
};

// The staircase of `f`, which must not fall on `domain`. About 1/factor accumulators to a step make
// the search short; any factor gives the right result.
Staircase staircase_of(const std::function<int64_t(int64_t)>& f, Interval domain, double factor);

// y = (acc * multiplier + offset) >> shift for acc >= 0, and with offset - bend for acc < 0. Halves
// that are rounded away from zero put the steps of negative outputs later than a line does; the
// bend makes room for that.
struct Line {
  int64_t multiplier = 0;  // 0 .. 2^31 - 1
  int64_t offset = 0;      // within +-2^62
  int64_t bend = 0;        // of int32
  bool operator==(const Line&) const = default;
};

struct LineForm {
  int64_t shift = 32;
  bool bent = false;  // whether `bend` may be other than 0
  // The output is brought into this range afterwards, so that the line may lie anywhere beyond it
  // where the staircase is at the range's end. Absent: it must be the staircase everywhere.
  std::optional<Interval> clamp;
};

// The line for `stairs`, whose domain lies within int32; nullopt if there is none with these
// bounds, or if the sum would leave int64 or what it is shifted to leave int32. Among the lines of
// a form it is the one with the longest interval of offsets.
std::optional<Line> find_line(const Staircase& stairs, const LineForm& form);

// Whether the line is the staircase: the inequalities themselves, in no more than their own words.
bool is_proved(const Staircase& stairs, const LineForm& form, const Line& line);

}  // namespace ingot
