// SPDX-License-Identifier: Apache-2.0
#include "ops/rescale.h"

#include <fmt/format.h>

#include "ops/fixed_point.h"

namespace ingot {

using loop::Expr;
using loop::lit;

double rescale_factor(const TensorType& x, const TensorType& y, bool in_float32) {
  if (in_float32) return static_cast<double>(x.scale() / y.scale());
  return static_cast<double>(x.scale()) / static_cast<double>(y.scale());
}

Fault check_rescale(const TensorType& x, std::string_view who, const TensorType& y,
                    bool in_float32) {
  const auto allowed = {DType::kInt8, DType::kUInt8, DType::kInt16, DType::kUInt16, DType::kInt32};
  if (Fault fault = check_dtype(x, who, allowed)) return fault;
  if (Fault fault = check_dtype(y, "the output", allowed)) return fault;
  if (Fault fault = check_per_tensor(x, who)) return fault;
  if (Fault fault = check_per_tensor(y, "the output")) return fault;
  if (std::isfinite(rescale_factor(x, y, in_float32))) return std::nullopt;
  return quantization_fault(fmt::format(
      "the ratio of the scales {} and {} is not finite in float32", x.scale(), y.scale()));
}

int64_t greatest_magnitude(const TensorType& x) {
  return std::max(highest(x.dtype) - x.zero_point(), x.zero_point() - lowest(x.dtype));
}

namespace {

// On y's scale, before the zero point and saturation.
int64_t reference_centred(int64_t element, const TensorType& x, double factor, Rounding rounding) {
  const int64_t centred = element - x.zero_point();
  if (factor == 1) return centred;
  return reference::multiply_by_quantized_multiplier(
      reference::saturate32(centred), quantize_multiplier(factor), integer_rounding(rounding));
}

}  // namespace

int64_t reference_rescale(int64_t element, const TensorType& x, const TensorType& y, double factor,
                          Rounding rounding) {
  const int64_t centred = reference_centred(element, x, factor, rounding);
  return reference::saturate(centred + y.zero_point(), y.dtype);
}

Expr lower_rescale(Lowering& lowering, const Expr& element, const TensorType& x,
                   const TensorType& y, double factor) {
  // Only int32 with a zero point leaves 32 bits on the way.
  constexpr int64_t kMax = (int64_t{1} << 31) - 1;
  const int64_t bound = greatest_magnitude(x);
  const bool wide = bound > kMax || y.dtype == DType::kInt32;
  Expr centred = (wide ? loop::cast(loop::kInt64, element) : element) -
                 lit(x.zero_point(), wide ? loop::kInt64 : loop::kInt32);
  if (factor != 1) {
    if (wide) {
      centred = loop::cast(loop::kInt32, clamp_to(centred, -kMax - 1, kMax));
    }
    centred = multiply_by_quantized_multiplier(lowering, centred, quantize_multiplier(factor),
                                               std::min(bound, kMax));
    if (wide) centred = loop::cast(loop::kInt64, centred);
  }
  const auto end = [&](int64_t integer) {
    return reference_centred(integer, x, factor, lowering.rounding());
  };
  return loop::cast(loop::kInt32,
                    saturate_to(y, centred, end(lowest(x.dtype)), end(highest(x.dtype))));
}

}  // namespace ingot
