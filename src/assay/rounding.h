// SPDX-License-Identifier: Apache-2.0
// The rescaling of the format's own runtime, as assay reads its definition: a factor as a mantissa
// of 31 bits and an exponent, and two ways to round a product with it.
#pragma once
#include <cstdint>

namespace ingot::assay {

__extension__ using Wide = __int128;

// factor = mantissa / 2^31 * 2^exponent.
struct Fixed {
  int64_t mantissa = 0;
  int64_t exponent = 0;
};
// The mantissa is rounded half away from zero; factors too small to hold are 0.
Fixed fixed_of(double factor);

// x * factor for x within int32. In single rounding half up; else half up at bit 31, then the rest
// half away from zero. Saturated to int32, a shift to the left on its own.
int64_t rescaled(int64_t x, const Fixed& factor, bool single);

}  // namespace ingot::assay
