// SPDX-License-Identifier: Apache-2.0
#include "ops/proved_sum.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <ostream>

namespace ingot {
namespace {

struct Row {
  const char* what;
  Interval x;
  Interval z;
  double x_factor;
  double z_factor;
  Interval clamp;
};

void PrintTo(const Row& row, std::ostream* out) { *out << row.what; }

SumTask task_of(const Row& row) {
  const auto reference = [row](int64_t x, int64_t z) {
    const double sum =
        static_cast<double>(x) * row.x_factor + static_cast<double>(z) * row.z_factor;
    return std::clamp(static_cast<int64_t>(std::floor(sum + 0.5)), row.clamp.low, row.clamp.high);
  };
  return {.reference = reference,
          .x = row.x,
          .z = row.z,
          .x_zero_point = 0,
          .z_zero_point = 0,
          .x_factor = row.x_factor,
          .z_factor = row.z_factor,
          .clamp = row.clamp};
}

class FindPlane : public testing::TestWithParam<Row> {};

TEST_P(FindPlane, equalsTheReferenceForAllPairs) {
  const SumTask task = task_of(GetParam());
  const std::optional<Plane> plane = find_plane(task);
  const std::optional<SumByTable> table = find_sum_by_table(task);
  ASSERT_TRUE(plane.has_value());
  ASSERT_TRUE(table.has_value());
  for (int64_t x = task.x.low; x <= task.x.high; ++x) {
    for (int64_t z = task.z.low; z <= task.z.high; ++z) {
      const int64_t expected = task.reference(x, z);
      const auto clamped = [&](int64_t y) {
        return std::clamp(y, task.clamp.low, task.clamp.high);
      };
      ASSERT_EQ(clamped(value_of(*plane, x, z)), expected) << x << ' ' << z;
      ASSERT_EQ(clamped(value_of(*table, x, z - task.z.low)), expected) << x << ' ' << z;
    }
  }
}

constexpr Interval kByte{-128, 127};

INSTANTIATE_TEST_SUITE_P(
    Sums, FindPlane,
    testing::Values(Row{"bytes", kByte, kByte, 0.7071, 0.4103, kByte},
                    Row{"a difference", kByte, kByte, 0.5, -0.3, kByte},
                    Row{"one value each", {3, 3}, {5, 5}, 0.7071, 0.4103, kByte},
                    Row{"all at the lower clamp", {-128, -100}, {-128, -100}, 0.9, 0.9, {0, 255}},
                    Row{"all at the upper clamp", {100, 127}, {100, 127}, 0.9, 0.9, {-128, 10}},
                    Row{"negative sums all clamped", kByte, kByte, 0.7071, 0.4103, {0, 255}},
                    Row{"positive sums all clamped", kByte, kByte, 0.7071, 0.4103, {-255, 0}},
                    Row{"never clamped, never negative", {0, 100}, {0, 100}, 0.5, 0.5, kByte},
                    Row{"one output only", kByte, kByte, 0.7071, 0.4103, {0, 0}}));

}  // namespace
}  // namespace ingot
