// SPDX-License-Identifier: Apache-2.0
#include "loop/expr.h"

#include <gtest/gtest.h>

#include <limits>

#include "loop/float.h"
#include "loop/text.h"
#include "loop/typing.h"
#include "support/check.h"

namespace ingot::loop {
namespace {

const Expr x = var("x");
const Expr y = var("y");
const Expr c = var("c", kBool);

struct Folding {
  Expr built;
  std::string text;
};

TEST(Expr, buildersFold) {
  const std::vector<Folding> kCases = {
      {lit(2) + lit(3), "5"},
      {x + 0, "x"},
      {lit(4) + x, "x + 4"},
      {x - 4, "x - 4"},
      {x + 3 - 3, "x"},
      {x * 1, "x"},
      {x * 0, "0"},
      {x * 2 * 3, "x * 6"},
      {(x + 1) * 2, "(x + 1) * 2"},
      {lit(4) - x, "4 - x"},
      {x - (y - 1), "x - (y - 1)"},
      {min(max(x, lit(3)), lit(5)), "min(max(x, 3), 5)"},
      {min(min(x, lit(3)), lit(5)), "min(x, 3)"},
      {max(lit(3), x), "max(x, 3)"},
      {floor_div(lit(-7), 2), "-4"},
      {floor_mod(lit(-7), 2), "1"},
      {floor_mod(x, 1), "0"},
      {floor_div(x, 1), "x"},
      {shr(lit(-5), 1), "-3"},
      {shl(x, 0), "x"},
      {less(lit(1), lit(2)), "true"},
      {select(less(lit(2), lit(1)), x, y), "y"},
      {unary(UnaryOp::kNeg, lit(5)), "-5"},
      {unary(UnaryOp::kAbs, lit(-5)), "5"},
      {unary(UnaryOp::kNot, lit(0, kBool)), "true"},
      {cast(kInt32, x), "x"},
      {cast(kInt64, lit(7)), "7:int64"},
      {cast(kInt8, lit(300)), "int8(300)"},
      // What has no value stays, so that it faults where it is run.
      {lit(std::numeric_limits<int32_t>::max()) + lit(1), "2147483647 + 1"},
      {binary(BinaryOp::kDiv, lit(1), lit(0)), "div(1, 0)"},
      {lit(std::numeric_limits<int64_t>::min(), kInt64) - lit(1, kInt64),
       "-9223372036854775808:int64 - 1:int64"},
      {x - lit(std::numeric_limits<int32_t>::min()), "x - (-2147483648)"},
      // No folding of floats: x + 0 is not x for -0.
      {var("f", kFloat32) + float_lit(0), "f + 0.0"},
  };
  for (const Folding& f : kCases) EXPECT_EQ(print(f.built), f.text);
}

TEST(Expr, buildersCheckTypes) {
  EXPECT_THROW(x + lit(1, kInt64), InternalError);
  EXPECT_THROW(lit(200, kInt8), InternalError);
  EXPECT_THROW(lit(1, kFloat32), InternalError);
  EXPECT_THROW(float_lit(1, kInt32), InternalError);
  EXPECT_THROW(load("b", lit(0, kInt64), kInt8), InternalError);
  EXPECT_THROW(load("b", x, kInt8, 3), InternalError);
  EXPECT_THROW(select(x, x, x), InternalError);
  EXPECT_THROW(select(c, x, c), InternalError);
  EXPECT_THROW(unary(UnaryOp::kSqrt, x), InternalError);
  EXPECT_THROW(unary(UnaryOp::kNot, var("f", kFloat32)), InternalError);
  EXPECT_THROW(binary(BinaryOp::kFloorDiv, x, y), InternalError);
  EXPECT_THROW(binary(BinaryOp::kFloorDiv, x, lit(0)), InternalError);
  EXPECT_THROW(binary(BinaryOp::kShl, var("f", kFloat32), float_lit(1)), InternalError);
  EXPECT_THROW(cast(Type{DType::kInt8, 8}, var("v", Type{DType::kInt8, 4})), InternalError);
  EXPECT_THROW(var("v", Type{DType::kInt8, 3, true}), InternalError);
  EXPECT_NO_THROW(cast(kInt8x4, var("v", Type{DType::kInt8, 4})));
  EXPECT_NO_THROW(cast(kInt8x4, lit(1, kInt8)));
}

TEST(Expr, equalLooksAtEverything) {
  const std::vector<Expr> kDistinct = {
      x,
      y,
      var("x", kInt64),
      lit(1),
      lit(1, kInt64),
      float_lit(0.0),
      float_lit(-0.0),
      float_lit(std::numeric_limits<double>::quiet_NaN()),
      x + y,
      y + x,
      x * y,
      load("b", x, kInt8),
      load("b", y, kInt8),
      load("d", x, kInt8),
      load("b", x, kInt8, 4),
      load("b", x, Type{DType::kInt8, 4}, 4),
      load("b", x, kInt8x4, 4),
      select(c, x, y),
      select(c, y, x),
      cast(kInt64, x),
      call("f", kInt32, {x}),
      call("f", kInt32, {x, y}),
      call("g", kInt32, {x}),
      unary(UnaryOp::kNeg, x),
      unary(UnaryOp::kAbs, x),
  };
  for (size_t i = 0; i < kDistinct.size(); ++i) {
    for (size_t j = 0; j < kDistinct.size(); ++j) {
      EXPECT_EQ(equal(kDistinct[i], kDistinct[j]), i == j) << i << " " << j;
    }
  }
  EXPECT_TRUE(equal(load("b", x + y, kInt8), load("b", var("x") + var("y"), kInt8)));
}

TEST(Type, printsAndIsFound) {
  for (const Type type : {kBool, kInt8, kFloat32, kInt8x4, kInt16x2, Type{DType::kFloat16, 8},
                          Type{DType::kUInt64, 256}}) {
    EXPECT_EQ(find_type(print(type)), type);
  }
  for (const char* text : {"", "int", "int8x", "int8x1", "int8x04", "int8p3", "int8x257", "x4",
                           "int8x99999999999999999999", "int8q4", "int8x4 "}) {
    EXPECT_EQ(find_type(text), std::nullopt) << text;
  }
}

TEST(Half, everyValueSurvives) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const double value = half_to_double(static_cast<uint16_t>(bits));
    if (value != value) {
      EXPECT_EQ(double_to_half(value), 0x7e00);
    } else {
      EXPECT_EQ(double_to_half(value), bits);
    }
  }
}

TEST(Half, roundsToEven) {
  EXPECT_EQ(double_to_half(1.0), 0x3c00);
  EXPECT_EQ(double_to_half(1.0 + 0x1p-11), 0x3c00);
  EXPECT_EQ(double_to_half(1.0 + 0x1.8p-10), 0x3c02);
  EXPECT_EQ(double_to_half(65519.9), 0x7bff);
  EXPECT_EQ(double_to_half(-65520.0), 0xfc00);
  EXPECT_EQ(double_to_half(0x1p-25), 0x0000);
  EXPECT_EQ(double_to_half(0x1.8p-24), 0x0002);
  EXPECT_EQ(double_to_half(0x1.ffcp-15), 0x0400);
}

}  // namespace
}  // namespace ingot::loop
