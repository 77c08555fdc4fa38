// SPDX-License-Identifier: Apache-2.0
// Sums of two bytes on other scales (residual additions) as one plane, proved by trying all pairs:
//
//   s = x * x_multiplier + z * z_multiplier + centre
//   y = base + ((s + offset - (s < 0 ? bend : 0)) >> shift), clamped
//
// in int32. For two multipliers the offsets that will do are an interval for each sign of s; its
// ends follow from the 65,536 pairs. Multipliers are tried from the real factors outward.
//
// Where there is no plane (32 bits resolve the factors too coarsely) each value of z can have an
// offset of its own:
//
//   y = base + ((x * x_multiplier + z_offsets[z]) >> shift), clamped
//
// Then 256 pairs have to agree on an offset instead of 65,536, which they nearly always do.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ops/staircase.h"

namespace ingot {

struct Plane {
  int64_t x_multiplier = 0;
  int64_t z_multiplier = 0;
  int64_t centre = 0;  // s is 0 where both operands are at their zero points
  int64_t offset = 0;
  int64_t bend = 0;
  int64_t shift = 0;
  bool operator==(const Plane&) const = default;
};

struct SumByTable {
  int64_t x_multiplier = 0;
  int64_t shift = 0;
  std::vector<int64_t> z_offsets;  // by z, from the lowest upward; each within int32
  bool operator==(const SumByTable&) const = default;
};

struct SumTask {
  std::function<int64_t(int64_t x, int64_t z)> reference;  // the output, clamped, less the base
  Interval x;  // what the operands can be, 256 values at most
  Interval z;
  int64_t x_zero_point = 0;
  int64_t z_zero_point = 0;
  double x_factor = 0;  // about: that of x in the output's scale; may be negative
  double z_factor = 0;
  Interval clamp;  // brought about afterwards, less the base
};

// A plane that equals the reference for all pairs, none of whose steps leaves int32.
std::optional<Plane> find_plane(const SumTask& task);

// The same of an offset for each z.
std::optional<SumByTable> find_sum_by_table(const SumTask& task);

// The searches of one program, for sums and for weighted sums. Equal tasks are searched for once; a
// program with very many different ones gets planes for the first of them only, as a search looks
// at every pair of bytes.
class PlaneSearches {
 public:
  // `key` tells tasks apart.
  std::optional<Plane> find(const std::string& key, const SumTask& task);
  std::optional<SumByTable> find_by_table(const std::string& key, const SumTask& task);
  // Whether lines for so many factors (ops/proved_rescale.h) may be searched for, too; if so, they
  // are counted.
  bool may_find_lines(int64_t factors);

 private:
  int64_t num_lines_ = 0;
  std::map<std::string, std::optional<Plane>> found_;
  std::map<std::string, std::optional<SumByTable>> found_by_table_;
};

// y less the base, before the clamp.
int64_t value_of(const Plane& plane, int64_t x, int64_t z);

// The same; `i` is z less the lowest.
int64_t value_of(const SumByTable& sum, int64_t x, int64_t i);

}  // namespace ingot
