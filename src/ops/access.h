// SPDX-License-Identifier: Apache-2.0
// Reading and writing elements of tensors whose type is known only at run time.
#pragma once
#include <cstring>

#include "ops/rules.h"

namespace ingot {

template <class T>
T element_of(std::span<const uint8_t> bytes, int64_t index) {
  T value;
  std::memcpy(&value, bytes.data() + static_cast<size_t>(index) * sizeof(T), sizeof(T));
  return value;
}
template <class T>
void set_element(std::span<uint8_t> bytes, int64_t index, T value) {
  std::memcpy(bytes.data() + static_cast<size_t>(index) * sizeof(T), &value, sizeof(T));
}

// Calls `f` with a value of the C++ type that `dtype` stands for (float16 as uint16_t, its bits).
template <class F>
decltype(auto) with_type(DType dtype, F f) {
  switch (dtype) {
    case DType::kBool:
    case DType::kUInt8:
      return f(uint8_t{});
    case DType::kInt8:
      return f(int8_t{});
    case DType::kInt16:
      return f(int16_t{});
    case DType::kUInt16:
    case DType::kFloat16:
      return f(uint16_t{});
    case DType::kInt32:
      return f(int32_t{});
    case DType::kUInt32:
      return f(uint32_t{});
    case DType::kInt64:
      return f(int64_t{});
    case DType::kUInt64:
      return f(uint64_t{});
    case DType::kFloat32:
      return f(float{});
    case DType::kFloat64:
      return f(double{});
  }
  CHECK(false);
  return f(uint8_t{});
}

// The integer element at flat `index`, whatever the integer type (uint64 above int64 wraps).
inline int64_t int_at(const TensorView& x, int64_t index) {
  return with_type(x.type->dtype, [&](auto sample) {
    return static_cast<int64_t>(element_of<decltype(sample)>(x.bytes, index));
  });
}
inline void set_int(const MutableTensorView& y, int64_t index, int64_t value) {
  with_type(y.type->dtype, [&](auto sample) {
    set_element(y.bytes, index, static_cast<decltype(sample)>(value));
  });
}
inline float float_at(const TensorView& x, int64_t index) {
  return element_of<float>(x.bytes, index);
}
inline void set_float(const MutableTensorView& y, int64_t index, float value) {
  set_element(y.bytes, index, value);
}

}  // namespace ingot
