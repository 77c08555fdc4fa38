// SPDX-License-Identifier: Apache-2.0
// Arm Advanced SIMD (Neon): dot products of bytes, requantisation, loads and stores of bytes.
// Source: Arm C Language Extensions, Advanced SIMD intrinsics.
#include <fmt/format.h>

#include "target/vector_intrinsics.h"

namespace ingot {
namespace {

constexpr const char* kHasNeon = "defined(__ARM_NEON) && defined(__ARM_FEATURE_DOTPROD)";

}  // namespace

std::vector<loop::Function> neon_intrinsics() {
  loop::Function dot = lanewise_dot("dot_words_x4", 4, 4, loop::kInt8x4, DType::kInt8);
  dot.comment = "to each lane of sum, the products of the bytes of x and of its four of w";
  dot.expression =
      "(int32x4)vdotq_s32((int32x4_t)%1, vreinterpretq_s8_u32(vdupq_n_u32(%2)), (int8x16_t)%3)";
  dot.condition = kHasNeon;
  return {dot};
}

loop::Function neon_rescaled(int64_t lanes, Rescaling rescaling) {
  const auto half = [&](bool low) {
    const std::string add = low ? "vmlal_s32" : "vmlal_high_s32";
    const auto part = [&](const std::string& v) {
      return low ? fmt::format("vget_low_s32({})", v) : v;
    };
    const auto whole = [](int number) { return fmt::format("(int32x4_t)%{}", number); };
    std::string sum =
        fmt::format("{}((int64x2_t)%{}, {}, {})", add, low ? 3 : 4, part(whole(1)), part(whole(2)));
    if (rescaling == Rescaling::kBent) {
      sum = fmt::format("{}({}, {}, {})", add, sum,
                        part(fmt::format("vshrq_n_s32({}, 31)", whole(1))), part(whole(5)));
    }
    if (rescaling == Rescaling::k31) sum = fmt::format("vshlq_n_s64({}, 1)", sum);
    return fmt::format("vreinterpretq_s32_s64({})", sum);
  };
  loop::Function f = rescaled(lanes, rescaling);
  f.expression = fmt::format("(int32x4)vuzp2q_s32({}, {})", half(true), half(false));
  f.condition = kHasNeon;
  return f;
}

VectorExtension neon_vectors() {
  return {kHasNeon,
          "arm_neon.h",
          {{"min_int32x4", "return (int32x4)vminq_s32((int32x4_t)a, (int32x4_t)b);"},
           {"max_int32x4", "return (int32x4)vmaxq_s32((int32x4_t)a, (int32x4_t)b);"},
           {"load_int8x4_as_int32x4",
            "int32_t word; memcpy(&word, p, sizeof word); "
            "return (int32x4)vmovl_s16(vget_low_s16(vmovl_s8(vcreate_s8((uint32_t)word))));"},
           {"store_saturated_int32x4_as_int8x4",
            "const int16x4_t half = vqmovn_s32((int32x4_t)v); "
            "const int8x8_t bytes = vqmovn_s16(vcombine_s16(half, half)); "
            "const int32_t word = vget_lane_s32(vreinterpret_s32_s8(bytes), 0); "
            "memcpy(p, &word, sizeof word);"}}};
}

}  // namespace ingot
