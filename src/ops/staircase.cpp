// SPDX-License-Identifier: Apache-2.0
#include "ops/staircase.h"

#include <algorithm>
#include <cstdlib>
#include <limits>

#include "support/check.h"

namespace ingot {
namespace {

constexpr int64_t kInt32Min = std::numeric_limits<int32_t>::min();
constexpr int64_t kInt32Max = std::numeric_limits<int32_t>::max();
constexpr int64_t kLargestOffset = int64_t{1} << 62;

// The offset is at least, or at most, bound - at * multiplier.
struct Bound {
  int64_t at = 0;
  int64_t bound = 0;
};

// What is asked of the offset for accumulators of one sign.
struct Bounds {
  std::vector<Bound> lower;
  std::vector<Bound> upper;
};

// Calls at_least(acc, value) for the first accumulator of each step and at_most(acc, value) for the
// last, except where a clamp brings about what is asked.
template <class AtLeast, class AtMost>
void for_each_corner(const Staircase& stairs, const LineForm& form, AtLeast at_least,
                     AtMost at_most) {
  for (size_t s = 0; s < stairs.steps.size(); ++s) {
    const Stair& step = stairs.steps[s];
    const bool is_last = s + 1 == stairs.steps.size();
    const int64_t end = is_last ? stairs.domain.high : stairs.steps[s + 1].at - 1;
    if (!form.clamp || step.value > form.clamp->low) at_least(step.at, step.value);
    if (!form.clamp || step.value < form.clamp->high) at_most(end, step.value);
    // A step across zero has a corner on either side of it, too: the line bends there.
    if (!form.bent || step.at >= 0 || end < 0) continue;
    if (!form.clamp || step.value > form.clamp->low) at_least(0, step.value);
    if (!form.clamp || step.value < form.clamp->high) at_most(-1, step.value);
  }
}

// Bounds for acc >= 0 (for all, if the line has no bend) and for acc < 0.
struct BothBounds {
  Bounds positive;
  Bounds negative;
};

BothBounds bounds_of(const Staircase& stairs, const LineForm& form) {
  BothBounds both;
  const auto side = [&](int64_t at) -> Bounds& {
    return form.bent && at < 0 ? both.negative : both.positive;
  };
  for_each_corner(
      stairs, form,
      [&](int64_t at, int64_t value) {
        side(at).lower.push_back({at, value * (int64_t{1} << form.shift)});
      },
      [&](int64_t at, int64_t value) {
        side(at).upper.push_back({at, (value + 1) * (int64_t{1} << form.shift) - 1});
      });
  return both;
}

constexpr int64_t kNoBound = std::numeric_limits<int64_t>::max();

// The offsets that will do for one multiplier: low .. high, if that is not empty.
Interval offsets_for(const Bounds& bounds, int64_t multiplier) {
  Interval offsets{-kNoBound, kNoBound};
  for (const Bound& b : bounds.lower) {
    offsets.low = std::max(offsets.low, b.bound - b.at * multiplier);
  }
  for (const Bound& b : bounds.upper) {
    offsets.high = std::min(offsets.high, b.bound - b.at * multiplier);
  }
  return offsets;
}

__extension__ using Int128 = __int128;

Int128 length(const Interval& offsets) { return Int128{offsets.high} - offsets.low; }

// Of the two lengths the shorter counts. Each is concave in the multiplier, and so is the lesser of
// them: it grows until its maximum and falls from there on.
Int128 shorter_length(const BothBounds& bounds, int64_t multiplier) {
  return std::min(length(offsets_for(bounds.positive, multiplier)),
                  length(offsets_for(bounds.negative, multiplier)));
}

// The length at a multiplier, and how much it grows to the next one.
struct Secant {
  int64_t multiplier = 0;
  Int128 length = 0;
  Int128 growth = 0;
};

// Both lengths in one pass, as nearly all time of large models is spent here.
void add_lengths(const Bounds& bounds, int64_t multiplier, Int128& here, Int128& next) {
  Interval offsets{-kNoBound, kNoBound};
  Interval after{-kNoBound, kNoBound};
  for (const Bound& b : bounds.lower) {
    const int64_t offset = b.bound - b.at * multiplier;
    offsets.low = std::max(offsets.low, offset);
    after.low = std::max(after.low, offset - b.at);
  }
  for (const Bound& b : bounds.upper) {
    const int64_t offset = b.bound - b.at * multiplier;
    offsets.high = std::min(offsets.high, offset);
    after.high = std::min(after.high, offset - b.at);
  }
  here = std::min(here, length(offsets));
  next = std::min(next, length(after));
}

Secant secant_at(const BothBounds& bounds, int64_t multiplier) {
  Int128 here = 2 * Int128{kNoBound};
  Int128 next = here;
  add_lengths(bounds.positive, multiplier, here, next);
  add_lengths(bounds.negative, multiplier, here, next);
  return {multiplier, here, next - here};
}

// Where the lines through two secants meet, within low .. high: the length is beneath both lines,
// so that its maximum is near.
int64_t meeting_point(const Secant& rising, const Secant& falling, Interval range) {
  const Int128 gap = falling.length - rising.length + rising.growth * rising.multiplier -
                     falling.growth * falling.multiplier;
  return static_cast<int64_t>(
      std::clamp<Int128>(gap / (rising.growth - falling.growth), range.low, range.high));
}

// A multiplier for which both intervals of offsets are not empty: if there is one, the best. The
// answer is that of a bisection on whether the length grows, whatever is asked: as the length is
// concave, where two secants meet is a better guess than the middle, which takes turns with it.
std::optional<int64_t> find_multiplier(const BothBounds& bounds) {
  int64_t low = 0;
  int64_t high = kInt32Max;
  std::optional<Secant> rising;
  std::optional<Secant> falling;
  for (int64_t turn = 0; low < high; ++turn) {
    int64_t guess = low + (high - low) / 2;
    if (!falling && turn == 1) guess = high - 1;
    if (!rising && turn > 0) guess = low;
    if (rising && falling && turn % 4 != 3) {
      guess = meeting_point(*rising, *falling, {low, high - 1});
    }
    const Secant secant = secant_at(bounds, guess);
    if (secant.growth > 0) {
      rising = secant;
      low = guess + 1;
    } else {
      falling = secant;
      high = guess;
    }
  }
  if (shorter_length(bounds, low) < 0) return std::nullopt;
  return low;
}

// An offset in the interval, in its middle if it has two ends.
int64_t middle_of(const Interval& offsets) {
  if (offsets.low == -kNoBound) return offsets.high == kNoBound ? 0 : offsets.high;
  if (offsets.high == kNoBound) return offsets.low;
  return static_cast<int64_t>(offsets.low + length(offsets) / 2);
}

// The offset for one sign and, if the same will not do, the nearest for the other.
void set_offsets(Line& line, const Interval& positive, const Interval& negative) {
  const Interval common = {std::max(positive.low, negative.low),
                           std::min(positive.high, negative.high)};
  if (common.low <= common.high) {
    line.offset = middle_of(common);
  } else if (positive.low > negative.high) {
    line.offset = positive.low;
    line.bend = positive.low - negative.high;
  } else {
    line.offset = positive.high;
    line.bend = positive.high - negative.low;
  }
}

// The sum before the shift.
Int128 sum_of(const Line& line, int64_t accumulator) {
  return Int128{accumulator} * line.multiplier + line.offset - (accumulator < 0 ? line.bend : 0);
}

// Whether no step of the arithmetic can leave its type.
bool stays_in_range(const Staircase& stairs, const LineForm& form, const Line& line) {
  if (line.multiplier < 0 || line.multiplier > kInt32Max) return false;
  if (line.bend < kInt32Min || line.bend > kInt32Max || (line.bend != 0 && !form.bent))
    return false;
  if (std::abs(line.offset) > kLargestOffset - kInt32Max) return false;
  // The sum rises on either side of the bend.
  const auto holds = [&](int64_t accumulator) {
    const Int128 result = sum_of(line, accumulator) >> form.shift;
    return kInt32Min <= result && result <= kInt32Max;
  };
  const Interval& d = stairs.domain;
  return kInt32Min <= d.low && d.high <= kInt32Max && holds(d.low) && holds(d.high) &&
         (d.low >= 0 || d.high < 0 || (holds(-1) && holds(0)));
}

}  // namespace

Staircase staircase_of(const std::function<int64_t(int64_t)>& f, Interval domain, double factor) {
  CHECK(domain.low <= domain.high);
  const int64_t width = domain.high - domain.low + 1;
  const int64_t first_stride = factor * static_cast<double>(width) > 1
                                   ? std::max<int64_t>(1, static_cast<int64_t>(1 / factor))
                                   : width;
  // Nearly all steps are as wide as the factor says, or one accumulator more or less.
  const int64_t least_width = first_stride - 1;
  Staircase stairs{domain, {{domain.low, f(domain.low)}}};
  const int64_t last_value = f(domain.high);
  while (stairs.steps.back().value != last_value) {
    const Stair step = stairs.steps.back();
    // f(below) is the step's value, f(above) will be greater.
    int64_t below = step.at;
    int64_t stride = first_stride;
    if (least_width > 4 && step.at + least_width + 3 < domain.high &&
        f(step.at + least_width - 1) == step.value) {
      below = step.at + least_width - 1;
      stride = 4;
    }
    int64_t above = std::min(domain.high, below + stride);
    int64_t value = f(above);
    while (value == step.value) {
      below = above;
      stride *= 2;
      above = std::min(domain.high, below + stride);
      value = f(above);
    }
    while (above - below > 1) {
      const int64_t middle = below + (above - below) / 2;
      const int64_t there = f(middle);
      if (there == step.value) {
        below = middle;
      } else {
        above = middle;
        value = there;
      }
    }
    CHECK(value > step.value);
    stairs.steps.push_back({above, value});
  }
  return stairs;
}

std::optional<Line> find_line(const Staircase& stairs, const LineForm& form) {
  const Stair& first = stairs.steps.front();
  const Stair& last = stairs.steps.back();
  const int64_t largest = std::max(std::abs(first.value), std::abs(last.value)) + 1;
  if (largest > (kLargestOffset / 2) >> form.shift) return std::nullopt;
  Line line{0, first.value * (int64_t{1} << form.shift), 0};
  if (stairs.steps.size() == 1) return line;
  const BothBounds bounds = bounds_of(stairs, form);
  const std::optional<int64_t> multiplier = find_multiplier(bounds);
  if (!multiplier) return std::nullopt;
  line.multiplier = *multiplier;
  set_offsets(line, offsets_for(bounds.positive, *multiplier),
              offsets_for(bounds.negative, *multiplier));
  if (!stays_in_range(stairs, form, line)) return std::nullopt;
  return line;
}

bool is_proved(const Staircase& stairs, const LineForm& form, const Line& line) {
  if (!stays_in_range(stairs, form, line)) return false;
  bool holds = true;
  for_each_corner(
      stairs, form,
      [&](int64_t at, int64_t value) { holds &= sum_of(line, at) >> form.shift >= value; },
      [&](int64_t at, int64_t value) { holds &= sum_of(line, at) >> form.shift <= value; });
  return holds;
}

}  // namespace ingot
