// SPDX-License-Identifier: Apache-2.0
// Small models of one operator, as the tests of operators and of shapes build them.
#pragma once
#include <cstdint>
#include <functional>
#include <vector>

#include "tests/support/tflite_writer.h"

namespace ingot::testing {

inline const Quantization kX = per_tensor(0.5F, 3);
inline const Quantization kY = per_tensor(0.25F, -7);

inline TensorType int8_type(const Shape& shape, const Quantization& quantization = kX) {
  return {DType::kInt8, shape, quantization};
}
inline TensorType float_type(const Shape& shape) { return {DType::kFloat32, shape, std::nullopt}; }

inline int64_t weights(TfliteWriter& w, const Shape& shape) {
  const TensorType type = int8_type(shape, per_tensor(0.125F, 0));
  return w.constant("w", type, std::vector<int8_t>(static_cast<size_t>(type.num_elements()), 1));
}
inline int64_t bias(TfliteWriter& w, int64_t count) {
  return w.constant("b", {DType::kInt32, {count}, std::nullopt},
                    std::vector<int32_t>(static_cast<size_t>(count), 7));
}

using Build = std::function<int64_t(TfliteWriter&)>;

// A model whose output is what `build` returns.
inline std::vector<uint8_t> model_of(const Build& build) {
  TfliteWriter w;
  w.output(build(w));
  return w.bytes();
}

}  // namespace ingot::testing
