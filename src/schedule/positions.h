// SPDX-License-Identifier: Apache-2.0
// The output positions of a contraction: the outer loops over which the constant factor does not
// change, and where at the borders the sums are shorter.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "schedule/contraction.h"

namespace ingot {

// From `begin` to `end`, exclusive.
struct Span {
  int64_t begin = 0;
  int64_t end = 0;
  int64_t length() const { return end - begin; }
  bool operator==(const Span&) const = default;
};

// Neighbouring position loops that no sum's bounds depend on, and that step through x and through
// what `finish` accesses like one loop, become one loop.
Contraction with_collapsed_positions(Contraction c);

// How one sum's bounds depend on the outer loops.
struct SumRange {
  std::string variable;     // the outer loop that they depend on; empty: none
  std::vector<Span> spans;  // by its values; one if there is none
  Span full;                // what they all lie within
};
// nullopt if the bounds depend on more than one outer loop, or in another way than by min, max,
// sums and divisions.
std::optional<SumRange> range_of_sum(const Contraction& c, const LoopRange& sum);

// Of all sums, in order; nullopt if one has no such range, if one does not begin at 0, or if one
// has no term somewhere (where padding is wider than the kernel).
std::optional<std::vector<SumRange>> ranges_of_sums(const Contraction& c);

// The values of an outer loop at which every sum that depends on it is full: the longest run of
// them.
Span full_positions(const std::vector<SumRange>& sums, const std::string& variable, int64_t extent);

// Sets the variables of `axes` to the digits of `number`, the last one the lowest; `extent` gives
// the base of the digit at a place.
template <class Extent>
void set_digits(std::map<std::string, int64_t>& at, const std::vector<LoopRange>& axes,
                int64_t number, const Extent& extent) {
  for (size_t a = axes.size(); a-- > 0;) {
    at[axes[a].variable] = number % extent(a);
    number /= extent(a);
  }
}

}  // namespace ingot
