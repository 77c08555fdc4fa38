// SPDX-License-Identifier: Apache-2.0
#include "import/tflite/attributes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "support/arithmetic.h"

namespace ingot::tflite {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The integer that stands for `real`, not yet cut to the element type.
double quantized(float real, const TensorType& type) {
  return static_cast<double>(type.zero_point()) +
         static_cast<double>(std::round(real / type.scale()));
}

}  // namespace

AxisPadding same_padding(int64_t input, int64_t kernel, int64_t stride, int64_t dilation) {
  const int64_t output = ceil_div(input, stride);
  const int64_t total =
      std::max<int64_t>(0, (output - 1) * stride + (kernel - 1) * dilation + 1 - input);
  return {total / 2, total - total / 2};
}

std::optional<Clamp> clamp_of(format::Activation activation, const TensorType& type) {
  double low = 0;
  double high = kInfinity;
  switch (activation) {
    case format::Activation::RELU:
      break;
    case format::Activation::RELU6:
      high = 6;
      break;
    case format::Activation::RELU_N1_TO_1:
      low = -1;
      high = 1;
      break;
    default:
      return std::nullopt;
  }
  if (is_float(type.dtype)) return Clamp{low, high};
  if (type.dtype == DType::kBool) return std::nullopt;
  const auto least = static_cast<double>(lowest(type.dtype));
  const auto greatest = static_cast<double>(highest(type.dtype));
  if (type.quantization) {
    if (!type.quantization->per_tensor()) return std::nullopt;
    low = quantized(static_cast<float>(low), type);
    if (high < kInfinity) high = quantized(static_cast<float>(high), type);
  }
  return Clamp{std::max(low, least), std::min(high, greatest)};
}

std::optional<int64_t> resolved_axis(int64_t axis, int64_t rank) {
  if (axis < -rank || axis >= rank) return std::nullopt;
  return axis < 0 ? axis + rank : axis;
}

std::optional<Shape> resolved_shape(const std::vector<int64_t>& shape, int64_t num_elements,
                                    std::string& fault) {
  int64_t known = 1;
  int64_t* unknown = nullptr;
  Shape resolved = shape;
  for (int64_t& extent : resolved) {
    if (extent == -1 && !unknown) {
      unknown = &extent;
      continue;
    }
    const std::optional<int64_t> product = checked_mul(known, extent);
    if (extent < 0 || !product) {
      fault = fmt::format("the new shape {} makes no sense", print(shape));
      return std::nullopt;
    }
    known = *product;
  }
  if (unknown) *unknown = known > 0 ? num_elements / known : 0;
  if (known * (unknown ? *unknown : 1) == num_elements && (!unknown || known > 0)) return resolved;
  fault = fmt::format("the new shape {} does not hold {} elements", print(shape), num_elements);
  return std::nullopt;
}

}  // namespace ingot::tflite
