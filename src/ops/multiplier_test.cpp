// SPDX-License-Identifier: Apache-2.0
// The preparation of multipliers is shared by reference and loops, so no comparison of the two can
// find a mistake in it: these rows do.
#include "ops/multiplier.h"

#include <gtest/gtest.h>

#include <cmath>

namespace ingot {
namespace {

struct Row {
  double factor;
  QuantizedMultiplier expected;
};

const Row kRows[] = {
    {0, {0, 0}},
    {0.25, {1 << 30, -1}},
    {0.5, {1 << 30, 0}},
    {0.75, {3 << 29, 0}},
    {1, {1 << 30, 1}},
    {0.0123456789, {1696777188, -6}},
    {0.001, {1099511628, -9}},
    {3.7, {1986422374, 2}},
    // The mantissa rounds up to 2^31, which an int32 does not hold.
    {1 - std::ldexp(1, -33), {1 << 30, 1}},
    // Half of the last place rounds away from zero.
    {0.5 + std::ldexp(1, -32), {(1 << 30) + 1, 0}},
    {std::ldexp(1, -32), {1 << 30, -31}},
    {std::ldexp(1, -32) * (1 - 1e-9), {0, 0}},
    {std::ldexp(1, 29), {1 << 30, 30}},
    {std::ldexp(1, 30), {2147483647, 30}},
};

TEST(Multiplier, IsPreparedAsDefined) {
  for (const Row& row : kRows) {
    const QuantizedMultiplier got = quantize_multiplier(row.factor);
    EXPECT_EQ(got.multiplier, row.expected.multiplier) << row.factor;
    EXPECT_EQ(got.shift, row.expected.shift) << row.factor;
  }
}

}  // namespace
}  // namespace ingot
