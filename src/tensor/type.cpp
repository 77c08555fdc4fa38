// SPDX-License-Identifier: Apache-2.0
#include "tensor/type.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "support/check.h"

namespace ingot {

int64_t TensorType::num_elements() const {
  int64_t n = 1;
  for (const int64_t extent : shape) n *= extent;
  return n;
}

float TensorType::scale() const {
  CHECK(quantization && quantization->per_tensor());
  return quantization->scale();
}

int64_t TensorType::zero_point() const {
  CHECK(quantization && quantization->per_tensor());
  return quantization->zero_point();
}

Shape row_major_strides(const Shape& shape) {
  Shape strides(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 1;) strides[i - 1] = strides[i] * shape[i];
  return strides;
}

std::string print(const Shape& shape) { return fmt::format("[{}]", fmt::join(shape, ",")); }

std::string print_plain(const TensorType& type) {
  return std::string(name_of(type.dtype)) + print(type.shape);
}

std::string print(const TensorType& type) {
  std::string text = print_plain(type);
  if (!type.quantization) return text;
  const Quantization& q = *type.quantization;
  if (q.per_tensor())
    return text + fmt::format(" scale {} zero_point {}", q.scale(), q.zero_point());
  return text + fmt::format(" scales {{{}}} zero_points {{{}}} axis {}", fmt::join(q.scales, ","),
                            fmt::join(q.zero_points, ","), q.axis);
}

}  // namespace ingot
