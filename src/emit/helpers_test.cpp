// SPDX-License-Identifier: Apache-2.0
// The helper functions of generated C are C++ as well; here they run.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

namespace helpers {
#include "emit/helpers.c"
}  // namespace helpers

#include "emit/helpers.h"
#include "emit/names.h"
#include "support/arithmetic.h"

namespace ingot {
namespace {

TEST(Helpers, AreFoundByName) {
  EXPECT_EQ(helper_text("min_int32"),
            "/* The lesser; a where neither is. */\n"
            "static inline int32_t min_int32(int32_t a, int32_t b) {\n"
            "  return b < a ? b : a;\n"
            "}");
  for (const std::string& name : all_helpers()) EXPECT_EQ(c_name(name), name);
  EXPECT_EQ(all_helpers().size(), 24u);
}

TEST(Helpers, OrderIntegersAndFloats) {
  EXPECT_EQ(helpers::min_int32(-3, 2), -3);
  EXPECT_EQ(helpers::max_int32(-3, 2), 2);
  EXPECT_EQ(helpers::min_uint32(3, 2), 2u);
  EXPECT_EQ(helpers::max_uint32(3, 2), 3u);
  EXPECT_EQ(helpers::min_int64(INT64_MIN, 0), INT64_MIN);
  EXPECT_EQ(helpers::max_int64(INT64_MIN, 0), 0);
  EXPECT_EQ(helpers::min_uint64(UINT64_MAX, 0), 0u);
  EXPECT_EQ(helpers::max_uint64(UINT64_MAX, 0), UINT64_MAX);
  EXPECT_EQ(helpers::abs_int32(-5), 5);
  EXPECT_EQ(helpers::abs_int64(5), 5);
  // The first operand where they are equal or unordered.
  EXPECT_TRUE(std::signbit(helpers::min_float32(-0.0f, 0.0f)));
  EXPECT_TRUE(std::signbit(helpers::max_float32(-0.0f, 0.0f)));
  EXPECT_TRUE(std::isnan(helpers::max_float64(std::nan(""), 1)));
  EXPECT_EQ(helpers::min_float64(1, std::nan("")), 1);
}

TEST(Helpers, DivideDownwards) {
  for (int32_t a = -20; a <= 20; ++a) {
    for (int32_t b = 1; b <= 7; ++b) {
      EXPECT_EQ(helpers::floor_div_int32(a, b), floor_div(a, b));
      EXPECT_EQ(helpers::floor_mod_int32(a, b), floor_mod(a, b));
      EXPECT_EQ(helpers::floor_div_int64(a, b), floor_div(a, b));
      EXPECT_EQ(helpers::floor_mod_int64(a, b), floor_mod(a, b));
    }
  }
  EXPECT_EQ(helpers::floor_div_int32(INT32_MIN, 3), -715827883);
}

TEST(Helpers, MoveBits) {
  EXPECT_EQ(helpers::float32_from_bits(0x7f800000u), std::numeric_limits<float>::infinity());
  EXPECT_TRUE(std::isnan(helpers::float64_from_bits(0x7ff8000000000000u)));
  uint8_t bytes[8] = {0, 1, 2, 3, 4, 5, 6, 7};
  helpers::store_word(bytes + 1, helpers::load_word(bytes + 3));
  EXPECT_EQ(bytes[1], 3);
  EXPECT_EQ(bytes[4], 6);
  EXPECT_EQ(bytes[5], 5);
}

// All halves, and around the middle between each pair of neighbours.
TEST(Helpers, ConvertHalves) {
  EXPECT_EQ(helpers::float32_from_float16(0x3c00), 1.0f);
  EXPECT_EQ(helpers::float32_from_float16(0x0001), std::ldexp(1.0f, -24));
  EXPECT_EQ(helpers::float32_from_float16(0xfbff), -65504.0f);
  for (uint32_t bits = 0; bits < 0x7c00; ++bits) {
    const auto half = static_cast<uint16_t>(bits);
    const float value = helpers::float32_from_float16(half);
    ASSERT_EQ(helpers::float16_from_float32(value), half);
    ASSERT_EQ(helpers::float16_from_float32(-value), half | 0x8000);
    const float next =
        bits + 1 < 0x7c00 ? helpers::float32_from_float16(static_cast<uint16_t>(bits + 1)) : 65536;
    const float middle = value + (next - value) / 2;
    ASSERT_EQ(helpers::float16_from_float32(middle), bits + (bits & 1));
    ASSERT_EQ(helpers::float16_from_float32(std::nextafterf(middle, 0)), bits);
    ASSERT_EQ(helpers::float16_from_float32(std::nextafterf(middle, next)), bits + 1);
  }
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(helpers::float16_from_float32(infinity), 0x7c00);
  EXPECT_EQ(helpers::float16_from_float32(-1e30f), 0xfc00);
  EXPECT_EQ(helpers::float32_from_float16(0x7c00), infinity);
  EXPECT_TRUE(std::isnan(helpers::float32_from_float16(
      helpers::float16_from_float32(std::numeric_limits<float>::quiet_NaN()))));
}

}  // namespace
}  // namespace ingot
