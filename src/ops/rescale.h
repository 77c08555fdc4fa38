// SPDX-License-Identifier: Apache-2.0
// The same real value on another integer scale: what requantize does, and concat for inputs on a
// scale of their own.
//
// y = zero_point(y) + (x - zero_point(x)) * scale(x) / scale(y), saturated. Where the scales are
// equal nothing is rounded; else the multiplication is TFLM's MultiplyByQuantizedMultiplier
// (reference/requantize.h there), in double rounding or, for any other rounding, single.
#pragma once
#include "ops/checks.h"
#include "ops/lowering.h"
#include "ops/reference_math.h"

namespace ingot {

// The rounding of operators whose arithmetic is integer in every rounding mode.
constexpr Rounding integer_rounding(Rounding rounding) {
  return rounding == Rounding::kDouble ? Rounding::kDouble : Rounding::kSingle;
}

// scale(x) / scale(y), in double or (as TFLM's RELU prepares it) in float32.
double rescale_factor(const TensorType& x, const TensorType& y, bool in_float32);

// Both types are quantised as a whole, integers of at most 32 bits, and the factor is finite.
Fault check_rescale(const TensorType& x, std::string_view who, const TensorType& y,
                    bool in_float32);

// The two sides.
int64_t reference_rescale(int64_t element, const TensorType& x, const TensorType& y, double factor,
                          Rounding rounding);
loop::Expr lower_rescale(Lowering& lowering, const loop::Expr& element, const TensorType& x,
                         const TensorType& y, double factor);

// The greatest magnitude of x - zero_point(x).
int64_t greatest_magnitude(const TensorType& x);

}  // namespace ingot
