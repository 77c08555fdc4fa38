// SPDX-License-Identifier: Apache-2.0
// Tensor types in one word, for tests.
#pragma once
#include <utility>
#include <vector>

#include "tensor/type.h"

namespace ingot::testing {

inline TensorType float_type(Shape shape) { return {DType::kFloat32, std::move(shape), {}}; }
inline TensorType int32_type(Shape shape) { return {DType::kInt32, std::move(shape), {}}; }
inline TensorType int8_type(Shape shape, float scale = 1, int64_t zero_point = 0) {
  return {DType::kInt8, std::move(shape), per_tensor(scale, zero_point)};
}
// Quantised along `axis`, zero points 0.
inline TensorType int8_type(Shape shape, std::vector<float> scales, int64_t axis) {
  std::vector<int64_t> zero_points(scales.size(), 0);
  return {DType::kInt8, std::move(shape),
          Quantization{std::move(scales), std::move(zero_points), axis}};
}

}  // namespace ingot::testing
