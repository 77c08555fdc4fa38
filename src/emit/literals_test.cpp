// SPDX-License-Identifier: Apache-2.0
#include "emit/literals.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <random>

namespace ingot {
namespace {

// X08.
TEST(Literals, Integers) {
  const struct {
    int64_t value;
    DType dtype;
    std::string expected;
  } rows[] = {
      {5, DType::kInt8, "5"},
      {-128, DType::kInt8, "-128"},
      {255, DType::kUInt8, "255"},
      {2147483647, DType::kInt32, "2147483647"},
      {-2147483647 - 1, DType::kInt32, "(-2147483647 - 1)"},
      {4294967295, DType::kUInt32, "4294967295u"},
      {-1, DType::kInt64, "-INT64_C(1)"},
      {std::numeric_limits<int64_t>::max(), DType::kInt64, "INT64_C(9223372036854775807)"},
      {std::numeric_limits<int64_t>::min(), DType::kInt64, "(-INT64_C(9223372036854775807) - 1)"},
      {7, DType::kUInt64, "UINT64_C(7)"},
      {-1, DType::kUInt64, "UINT64_C(18446744073709551615)"},
  };
  for (const auto& row : rows) EXPECT_EQ(int_literal(row.value, row.dtype), row.expected);
}

TEST(Literals, FloatsReadBackExactly) {
  EXPECT_EQ(float_literal(0.5, DType::kFloat32), "0.5f");
  EXPECT_EQ(float_literal(-0.0, DType::kFloat32), "-0.0f");
  EXPECT_EQ(float_literal(1e10, DType::kFloat32), "1e+10f");
  EXPECT_EQ(float_literal(0.1, DType::kFloat64), "0.1");
  EXPECT_EQ(float_literal(3, DType::kFloat64), "3.0");
  EXPECT_FALSE(float_literal(std::numeric_limits<double>::infinity(), DType::kFloat64));
  EXPECT_FALSE(float_literal(std::nan(""), DType::kFloat32));
  std::mt19937 random(1);  // NOLINT: the same every time
  for (int i = 0; i < 20000; ++i) {
    const float value = std::bit_cast<float>(static_cast<uint32_t>(random()));
    if (!std::isfinite(value)) continue;
    const std::string text = *float_literal(value, DType::kFloat32);
    EXPECT_EQ(std::strtof(text.c_str(), nullptr), value) << text;
    EXPECT_TRUE(text.ends_with('f') && text.find_first_of(".e") != std::string::npos) << text;
  }
}

}  // namespace
}  // namespace ingot
