// SPDX-License-Identifier: Apache-2.0
// The integer arithmetic of the reference executor, written to be read (docs/vectors.md). Sources:
// gemmlowp's fixed-point definitions and TFLite's reference kernels as described there.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "ops/multiplier.h"
#include "ops/rules.h"

namespace ingot::reference {

inline int32_t saturate32(int64_t x) {
  return static_cast<int32_t>(std::clamp<int64_t>(x, std::numeric_limits<int32_t>::min(),
                                                  std::numeric_limits<int32_t>::max()));
}

// round(a * b / 2^31), half up; saturated.
inline int32_t saturating_rounding_doubling_high_mul(int32_t a, int32_t b) {
  return saturate32((int64_t{a} * b + (int64_t{1} << 30)) >> 31);
}

// round(x / 2^exponent), half away from zero; 0 <= exponent <= 31.
inline int32_t rounding_divide_by_pot(int32_t x, int exponent) {
  const int64_t magnitude = std::abs(int64_t{x});
  const int64_t half = exponent > 0 ? int64_t{1} << (exponent - 1) : 0;
  const int64_t rounded = (magnitude + half) >> exponent;
  return static_cast<int32_t>(x < 0 ? -rounded : rounded);
}

// x * factor in the given rounding. A left shift saturates (TFLM leaves that case undefined).
inline int32_t multiply_by_quantized_multiplier(int32_t x, QuantizedMultiplier m,
                                                Rounding rounding) {
  if (rounding == Rounding::kSingle) {
    const int total_shift = 31 - m.shift;
    const int64_t rounded = int64_t{x} * m.multiplier + (int64_t{1} << (total_shift - 1));
    return saturate32(rounded >> total_shift);
  }
  const int32_t shifted = saturate32(int64_t{x} * (int64_t{1} << std::max(m.shift, 0)));
  const int32_t high = saturating_rounding_doubling_high_mul(shifted, m.multiplier);
  return rounding_divide_by_pot(high, std::max(-m.shift, 0));
}

// An accumulator on the output's scale, before the zero point. kFloat multiplies by the factor as a
// float and rounds half to even (XNNPACK); the result is saturated to int32.
inline int32_t requantize(int32_t accumulator, double factor, Rounding rounding) {
  if (rounding != Rounding::kFloat) {
    return multiply_by_quantized_multiplier(accumulator, quantize_multiplier(factor), rounding);
  }
  const float scaled = static_cast<float>(accumulator) * static_cast<float>(factor);
  constexpr float kFits = 2147483520.0F;  // the largest float below 2^31
  return static_cast<int32_t>(std::nearbyint(std::clamp(scaled, -kFits, kFits)));
}

// Into the range of the integer type.
inline int64_t saturate(int64_t x, DType dtype) {
  return std::clamp(x, lowest(dtype), highest(dtype));
}

}  // namespace ingot::reference
