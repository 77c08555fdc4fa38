// SPDX-License-Identifier: Apache-2.0
// The type of a tensor: element type, shape and, for quantised tensors, what its integers stand
// for.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tensor/dtype.h"

namespace ingot {

using Shape = std::vector<int64_t>;

// real = scale * (integer - zero_point). One pair for the whole tensor, or one per index of
// dimension `axis` (per channel).
struct Quantization {
  std::vector<float> scales;  // finite, above 0; one, or as many as dimension `axis` has indices
  std::vector<int64_t> zero_points;  // as many as scales
  int64_t axis = -1;                 // -1: per tensor

  bool per_tensor() const { return axis < 0; }
  float scale(int64_t channel = 0) const {
    return scales.at(per_tensor() ? 0 : static_cast<size_t>(channel));
  }
  int64_t zero_point(int64_t channel = 0) const {
    return zero_points.at(per_tensor() ? 0 : static_cast<size_t>(channel));
  }
  bool operator==(const Quantization&) const = default;
};

inline Quantization per_tensor(float scale, int64_t zero_point) {
  return {{scale}, {zero_point}, -1};
}

struct TensorType {
  DType dtype = DType::kFloat32;
  Shape shape;  // row-major; empty for a scalar. All extents are at least 0.
  std::optional<Quantization> quantization;

  int64_t rank() const { return static_cast<int64_t>(shape.size()); }
  int64_t num_elements() const;
  int64_t size_bytes() const { return num_elements() * size_in_bytes(dtype); }
  bool is_quantized() const { return quantization.has_value(); }
  // Of a tensor quantised as a whole.
  float scale() const;
  int64_t zero_point() const;

  bool operator==(const TensorType&) const = default;
};

// Elements per step of each dimension: the last is 1.
Shape row_major_strides(const Shape& shape);

// "[1,49,10,1]", "[]".
std::string print(const Shape& shape);
// "int8[1,49,10,1] scale 0.58470291 zero_point 83"; per channel: "scales {...} zero_points {...}
// axis 3". Floats print with the fewest digits that read back exactly.
std::string print(const TensorType& type);
// The same without the quantisation: "int8[1,49,10,1]".
std::string print_plain(const TensorType& type);

}  // namespace ingot
