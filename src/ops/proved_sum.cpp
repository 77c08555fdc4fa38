// SPDX-License-Identifier: Apache-2.0
#include "ops/proved_sum.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "support/check.h"

namespace ingot {
namespace {

constexpr int64_t kInt32Max = std::numeric_limits<int32_t>::max();
constexpr int64_t kNone = std::numeric_limits<int64_t>::max();

constexpr size_t kMostSearches = 100;

// How far from the real factors multipliers are tried.
constexpr int64_t kReach = 3;

// The reference's outputs, x by x.
struct Outputs {
  Interval x;
  Interval z;
  std::vector<int64_t> values;
};

Outputs outputs_of(const SumTask& task) {
  Outputs outputs{task.x, task.z, {}};
  for (int64_t x = task.x.low; x <= task.x.high; ++x) {
    for (int64_t z = task.z.low; z <= task.z.high; ++z) {
      outputs.values.push_back(task.reference(x, z));
    }
  }
  return outputs;
}

// An end of an interval that nothing asks for is open.
bool is_open(int64_t end) { return std::abs(end) == kNone; }

int64_t moved(int64_t end, int64_t by) { return is_open(end) ? end : end + by; }

// Some value within, near an end if the other one is open.
int64_t value_within(const Interval& interval) {
  if (is_open(interval.high)) return is_open(interval.low) ? 0 : interval.low;
  if (is_open(interval.low)) return interval.high;
  return interval.low + (interval.high - interval.low) / 2;
}

// The offsets that will do where s is negative, and where it is not.
struct SignedOffsets {
  Interval negative{-kNone, kNone};
  Interval positive{-kNone, kNone};
};

SignedOffsets offsets_for(const Outputs& outputs, const Interval& clamp, const Plane& plane) {
  SignedOffsets offsets;
  const int64_t unit = int64_t{1} << plane.shift;
  size_t i = 0;
  for (int64_t x = outputs.x.low; x <= outputs.x.high; ++x) {
    int64_t s = x * plane.x_multiplier + outputs.z.low * plane.z_multiplier + plane.centre;
    for (int64_t z = outputs.z.low; z <= outputs.z.high; ++z, s += plane.z_multiplier) {
      const int64_t value = outputs.values[i++];
      Interval& side = s < 0 ? offsets.negative : offsets.positive;
      if (value > clamp.low) side.low = std::max(side.low, value * unit - s);
      if (value < clamp.high) side.high = std::min(side.high, (value + 1) * unit - 1 - s);
    }
    const auto is_empty = [](const Interval& side) { return side.low > side.high; };
    if (is_empty(offsets.negative) || is_empty(offsets.positive)) return offsets;
  }
  return offsets;
}

// Sets offset and bend; false if there are none. No bend where one offset does for both, else 1 if
// that will do, which is one instruction where a shifted operand costs nothing.
bool set_offsets(Plane& plane, const SignedOffsets& offsets) {
  const Interval& p = offsets.positive;
  const Interval& n = offsets.negative;
  if (p.low > p.high || n.low > n.high) return false;
  std::vector<int64_t> bends = {0, 1};
  if (!is_open(p.low) && !is_open(n.high)) bends.push_back(p.low - n.high);
  if (!is_open(p.high) && !is_open(n.low)) bends.push_back(p.high - n.low);
  for (const int64_t bend : bends) {
    const Interval both{std::max(p.low, moved(n.low, bend)), std::min(p.high, moved(n.high, bend))};
    if (both.low > both.high) continue;
    plane.offset = value_within(both);
    plane.bend = bend;
    return std::abs(plane.offset) <= kInt32Max && std::abs(bend) <= kInt32Max;
  }
  return false;
}

// Whether all steps of the arithmetic stay within int32, whatever the order in which it is added.
bool stays_in_range(const SumTask& task, const Plane& plane) {
  const auto bound = [](const Interval& range, int64_t multiplier) {
    return std::max(std::abs(range.low), std::abs(range.high)) * std::abs(multiplier);
  };
  return bound(task.x, plane.x_multiplier) + bound(task.z, plane.z_multiplier) +
             std::abs(plane.centre) + std::abs(plane.offset) + std::abs(plane.bend) <=
         kInt32Max;
}

// 0, 1, -1, 2, -2, ...
int64_t outward(int64_t n) { return n % 2 == 0 ? -n / 2 : (n + 1) / 2; }

// The greatest shift with which 2^31 holds both products, what centres them and the offset, each as
// large as the output; nothing if there is none.
std::optional<int64_t> greatest_shift(const SumTask& task) {
  const double reach = 512 * (std::abs(task.x_factor) + std::abs(task.z_factor)) + 256;
  int exponent = 0;
  std::frexp(reach, &exponent);
  if (exponent > 30) return std::nullopt;
  return 31 - exponent;
}

// Sets the offset for each z; false if there is none, or one of them is too large.
bool set_z_offsets(SumByTable& sum, const SumTask& task, const Outputs& outputs) {
  const int64_t unit = int64_t{1} << sum.shift;
  const int64_t largest = std::max(std::abs(task.x.low), std::abs(task.x.high));
  const int64_t room = kInt32Max - largest * std::abs(sum.x_multiplier);
  const int64_t columns = task.z.high - task.z.low + 1;
  sum.z_offsets.clear();
  for (int64_t i = 0; i < columns; ++i) {
    Interval fitting{-kNone, kNone};
    for (int64_t x = task.x.low; x <= task.x.high; ++x) {
      const int64_t value = outputs.values[static_cast<size_t>((x - task.x.low) * columns + i)];
      const int64_t product = x * sum.x_multiplier;
      if (value > task.clamp.low) fitting.low = std::max(fitting.low, value * unit - product);
      if (value < task.clamp.high) {
        fitting.high = std::min(fitting.high, (value + 1) * unit - 1 - product);
      }
    }
    if (fitting.low > fitting.high) return false;
    const int64_t offset = value_within(fitting);
    if (std::abs(offset) > room) return false;
    sum.z_offsets.push_back(offset);
  }
  return true;
}

}  // namespace

int64_t value_of(const Plane& plane, int64_t x, int64_t z) {
  const int64_t s = x * plane.x_multiplier + z * plane.z_multiplier + plane.centre;
  return (s + plane.offset - (s < 0 ? plane.bend : 0)) >> plane.shift;
}

int64_t value_of(const SumByTable& sum, int64_t x, int64_t i) {
  return (x * sum.x_multiplier + sum.z_offsets.at(static_cast<size_t>(i))) >> sum.shift;
}

std::optional<Plane> PlaneSearches::find(const std::string& key, const SumTask& task) {
  const auto known = found_.find(key);
  if (known != found_.end()) return known->second;
  if (found_.size() >= kMostSearches) return std::nullopt;
  return found_[key] = find_plane(task);
}

bool PlaneSearches::may_find_lines(int64_t factors) {
  // A search takes some 15 microseconds. Large networks have 30,000 channels.
  constexpr int64_t kMostLines = int64_t{1} << 15;
  if (num_lines_ + factors > kMostLines) return false;
  num_lines_ += factors;
  return true;
}

std::optional<SumByTable> PlaneSearches::find_by_table(const std::string& key,
                                                       const SumTask& task) {
  const auto known = found_by_table_.find(key);
  if (known != found_by_table_.end()) return known->second;
  if (found_by_table_.size() >= kMostSearches) return std::nullopt;
  return found_by_table_[key] = find_sum_by_table(task);
}

std::optional<Plane> find_plane(const SumTask& task) {
  CHECK(task.x.high - task.x.low < 256 && task.z.high - task.z.low < 256);
  const std::optional<int64_t> greatest = greatest_shift(task);
  if (!greatest) return std::nullopt;
  const Outputs outputs = outputs_of(task);
  for (int64_t shift = *greatest; shift >= std::max<int64_t>(1, *greatest - 2); --shift) {
    const auto unit = static_cast<double>(int64_t{1} << shift);
    const auto x_near = static_cast<int64_t>(std::round(task.x_factor * unit));
    const auto z_near = static_cast<int64_t>(std::round(task.z_factor * unit));
    for (int64_t i = 0; i < (2 * kReach + 1) * (2 * kReach + 1); ++i) {
      Plane plane;
      plane.shift = shift;
      plane.x_multiplier = x_near + outward(i / (2 * kReach + 1));
      plane.z_multiplier = z_near + outward(i % (2 * kReach + 1));
      plane.centre =
          -task.x_zero_point * plane.x_multiplier - task.z_zero_point * plane.z_multiplier;
      if (!set_offsets(plane, offsets_for(outputs, task.clamp, plane))) continue;
      if (stays_in_range(task, plane)) return plane;
    }
  }
  return std::nullopt;
}

std::optional<SumByTable> find_sum_by_table(const SumTask& task) {
  CHECK(task.x.high - task.x.low < 256 && task.z.high - task.z.low < 256);
  const std::optional<int64_t> greatest = greatest_shift(task);
  if (!greatest) return std::nullopt;
  const Outputs outputs = outputs_of(task);
  for (int64_t shift = *greatest; shift >= std::max<int64_t>(1, *greatest - 1); --shift) {
    const auto unit = static_cast<double>(int64_t{1} << shift);
    const auto near = static_cast<int64_t>(std::round(task.x_factor * unit));
    for (int64_t i = 0; i < 2 * kReach + 1; ++i) {
      SumByTable sum{near + outward(i), shift, {}};
      if (set_z_offsets(sum, task, outputs)) return sum;
    }
  }
  return std::nullopt;
}

}  // namespace ingot
