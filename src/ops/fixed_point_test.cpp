// SPDX-License-Identifier: Apache-2.0
// The two sides of fixed-point arithmetic: known vectors, and the loops' functions against the
// reference's on the edges of their ranges.
#include "ops/fixed_point.h"

#include <gtest/gtest.h>

#include "loop/interpret.h"
#include "ops/reference_math.h"
#include "tests/support/random.h"
#include "tests/support/types.h"

namespace ingot::testing {
namespace {

constexpr int64_t kMax = std::numeric_limits<int32_t>::max();
constexpr int64_t kMin = std::numeric_limits<int32_t>::min();

int32_t lowered(int32_t x, QuantizedMultiplier m, Rounding rounding, int64_t bound) {
  const Graph graph;
  Node node;
  node.op = Copy{};
  PlaneSearches searches;
  Lowering lowering(graph, node, rounding, searches);
  const loop::Expr e = multiply_by_quantized_multiplier(lowering, loop::lit(x), m, bound);
  loop::Program program;
  program.functions = std::move(lowering).finish().functions;
  return static_cast<int32_t>(loop::evaluate_int(program, e));
}

TEST(FixedPoint, Q01DoubleAndSingleRoundingDiffer) {
  struct Row {
    int32_t x;
    QuantizedMultiplier m;
    int32_t in_double, in_single;
  };
  const Row rows[] = {{7984, {1583594044, -9}, 12, 11}, {585, {1527099593, -6}, 7, 7}};
  for (const Row& row : rows) {
    EXPECT_EQ(reference::multiply_by_quantized_multiplier(row.x, row.m, Rounding::kDouble),
              row.in_double);
    EXPECT_EQ(reference::multiply_by_quantized_multiplier(row.x, row.m, Rounding::kSingle),
              row.in_single);
    EXPECT_EQ(lowered(row.x, row.m, Rounding::kDouble, kMax), row.in_double);
    EXPECT_EQ(lowered(row.x, row.m, Rounding::kDouble, 10000), row.in_double);
    EXPECT_EQ(lowered(row.x, row.m, Rounding::kSingle, kMax), row.in_single);
  }
}

TEST(FixedPoint, Q03EveryShiftAgreesWithTheReference) {
  Random random(3);
  for (int32_t shift = -31; shift <= 30; ++shift) {
    for (const int64_t x :
         {int64_t{0}, int64_t{1}, int64_t{-1}, kMax, kMin, kMin + 1, int64_t{1} << 29,
          random.integer(-1000, 1000), random.integer(kMin, kMax)}) {
      for (const int64_t multiplier : {int64_t{1} << 30, kMax, random.integer(1 << 30, kMax)}) {
        const QuantizedMultiplier m{static_cast<int32_t>(multiplier), shift};
        const auto x32 = static_cast<int32_t>(x);
        for (const Rounding rounding : {Rounding::kDouble, Rounding::kSingle}) {
          const int32_t expected = reference::multiply_by_quantized_multiplier(x32, m, rounding);
          ASSERT_EQ(lowered(x32, m, rounding, kMax), expected) << x << " " << shift;
          const int64_t bound = std::abs(x);
          ASSERT_EQ(lowered(x32, m, rounding, std::min(bound, kMax)), expected)
              << x << " " << shift;
        }
      }
    }
  }
}

TEST(FixedPoint, MultipliersAreTFLites) {
  EXPECT_EQ(quantize_multiplier(0.5), (QuantizedMultiplier{1 << 30, 0}));
  EXPECT_EQ(quantize_multiplier(1), (QuantizedMultiplier{1 << 30, 1}));
  EXPECT_EQ(quantize_multiplier(0.3), (QuantizedMultiplier{1288490189, -1}));
  EXPECT_EQ(quantize_multiplier(0), QuantizedMultiplier{});
  EXPECT_EQ(quantize_multiplier(1e-12), QuantizedMultiplier{});
  EXPECT_EQ(quantize_multiplier(1e30), (QuantizedMultiplier{2147483647, 30}));
  // A mantissa that rounds up to 1.
  EXPECT_EQ(quantize_multiplier(1 - 1e-12), (QuantizedMultiplier{1 << 30, 1}));
}

}  // namespace
}  // namespace ingot::testing
