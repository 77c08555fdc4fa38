// SPDX-License-Identifier: Apache-2.0
// A real rescaling factor as the integers that fixed-point arithmetic multiplies and shifts by.
//
// This preparation is a definition that both the reference and the lowered kernels start from (it
// happens once, at compile time); the arithmetic on top of it is written twice, apart.
#pragma once
#include <cstdint>

namespace ingot {

// factor = multiplier * 2^(shift - 31), with 2^30 <= multiplier < 2^31, or multiplier 0.
struct QuantizedMultiplier {
  int32_t multiplier = 0;
  int32_t shift = 0;  // -31 .. 30; above 0 shifts left
  bool operator==(const QuantizedMultiplier&) const = default;
};

// As TFLite's QuantizeMultiplier prepares it: the mantissa of frexp times 2^31, rounded half away
// from zero; factors below 2^-32 become 0 and factors from 2^30 on the largest representable.
// `factor` is finite and at least 0.
QuantizedMultiplier quantize_multiplier(double factor);

}  // namespace ingot
