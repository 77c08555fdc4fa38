// SPDX-License-Identifier: Apache-2.0
// dequantize: integer to float, y = scale * (x - zero_point), rounded once to float32. Constants
// may also be per channel or float16: those are folded, never computed on the device.
#include <cmath>
#include <limits>

#include "ops/access.h"
#include "ops/checks.h"
#include "ops/lowering.h"
#include "support/check.h"

namespace ingot {
namespace {

Fault check_per_channel(const TensorType& x) {
  const Quantization& q = *x.quantization;
  if (q.axis >= x.rank() ||
      static_cast<int64_t>(q.scales.size()) != x.shape.at(static_cast<size_t>(q.axis)) ||
      q.zero_points.size() != q.scales.size()) {
    return quantization_fault("the input's scales do not match its shape");
  }
  for (const float scale : q.scales) {
    if (!std::isfinite(scale) || scale <= 0) {
      return quantization_fault("the input has a scale that is not finite and above 0");
    }
  }
  for (const int64_t zero_point : q.zero_points) {
    if (zero_point < lowest(x.dtype) || zero_point > highest(x.dtype)) {
      return quantization_fault("the input has a zero point outside its type");
    }
  }
  return std::nullopt;
}

Result<std::vector<TensorType>> infer(const Op& /*op*/, Operands inputs,
                                      std::span<const TensorType> declared) {
  if (Fault fault = check_arity(inputs, 1, declared)) return *fault;
  const TensorType& x = *inputs[0].type;
  const auto dtypes = {DType::kInt8,   DType::kUInt8, DType::kInt16,
                       DType::kUInt16, DType::kInt32, DType::kFloat16};
  if (Fault fault = check_dtype(x, "the input", dtypes)) return *fault;
  if (Fault fault = check_dtype(declared[0], "the output", {DType::kFloat32})) return *fault;
  if (x.dtype != DType::kFloat16) {
    const bool per_channel = x.quantization && !x.quantization->per_tensor();
    if (Fault fault = per_channel ? check_per_channel(x) : check_per_tensor(x, "the input")) {
      return *fault;
    }
  }
  return with_shape(declared[0], x.shape);
}

constexpr Limit kLimits[] = {
    {"the input is constant or quantised per tensor (not float16, not per channel)",
     [](const Op& /*op*/, Operands inputs, std::span<const TensorType> /*outputs*/) {
       const TensorType& x = *inputs[0].type;
       return inputs[0].is_constant() ||
              (x.dtype != DType::kFloat16 && x.quantization->per_tensor());
     }}};

// IEEE 754 binary16: sign, 5 bits of exponent, 10 of fraction.
float from_half(uint16_t bits) {
  const int exponent = (bits >> 10) & 31;
  const int fraction = bits & 1023;
  float magnitude = 0;
  if (exponent == 31) {
    magnitude = fraction == 0 ? std::numeric_limits<float>::infinity()
                              : std::numeric_limits<float>::quiet_NaN();
  } else if (exponent == 0) {
    magnitude = std::ldexp(static_cast<float>(fraction), -24);
  } else {
    magnitude = std::ldexp(static_cast<float>(1024 + fraction), exponent - 25);
  }
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

void reference_rule(const Op& /*op*/, std::span<const TensorView> inputs,
                    std::span<const MutableTensorView> outputs, Rounding /*rounding*/) {
  const TensorType& x = *inputs[0].type;
  const int64_t count = outputs[0].type->num_elements();
  if (x.dtype == DType::kFloat16) {
    for (int64_t i = 0; i < count; ++i) {
      set_float(outputs[0], i, from_half(element_of<uint16_t>(inputs[0].bytes, i)));
    }
    return;
  }
  const Quantization& q = *x.quantization;
  const int64_t extent = q.per_tensor() ? 1 : x.shape[static_cast<size_t>(q.axis)];
  const int64_t stride =
      q.per_tensor() ? 1 : row_major_strides(x.shape)[static_cast<size_t>(q.axis)];
  for (int64_t i = 0; i < count; ++i) {
    const int64_t channel = i / stride % extent;
    const auto centred = static_cast<double>(int_at(inputs[0], i) - q.zero_point(channel));
    set_float(outputs[0], i, static_cast<float>(static_cast<double>(q.scale(channel)) * centred));
  }
}

loop::Expr element(Lowering& /*lowering*/, const Op& /*op*/,
                   std::span<const TensorType* const> types, const TensorType& /*output*/,
                   std::span<const loop::Expr> inputs) {
  const TensorType& x = *types[0];
  const auto scale = static_cast<double>(x.scale());
  if (x.dtype == DType::kInt32) {
    // A float cannot hold every int32; the exact product needs a double.
    const loop::Expr centred = loop::cast(loop::kFloat64, inputs[0]) -
                               loop::float_lit(static_cast<double>(x.zero_point()), loop::kFloat64);
    return loop::cast(loop::kFloat32, centred * loop::float_lit(scale, loop::kFloat64));
  }
  CHECK(is_integer(x.dtype));
  return loop::cast(loop::kFloat32, inputs[0] - x.zero_point()) * loop::float_lit(scale);
}

}  // namespace

constinit const OpRules Dequantize::rules = {.infer = infer,
                                             .limits = kLimits,
                                             .reference = reference_rule,
                                             .lower = lower_elementwise,
                                             .element = element};

}  // namespace ingot
