// SPDX-License-Identifier: Apache-2.0
// The element types of tensors and buffers.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

namespace ingot {

enum class DType : uint8_t {
  kBool,
  kInt8,
  kUInt8,
  kInt16,
  kUInt16,
  kInt32,
  kUInt32,
  kInt64,
  kUInt64,
  kFloat16,
  kFloat32,
  kFloat64,
};

constexpr int64_t size_in_bytes(DType dtype) {
  switch (dtype) {
    case DType::kBool:
    case DType::kInt8:
    case DType::kUInt8:
      return 1;
    case DType::kInt16:
    case DType::kUInt16:
    case DType::kFloat16:
      return 2;
    case DType::kInt32:
    case DType::kUInt32:
    case DType::kFloat32:
      return 4;
    case DType::kInt64:
    case DType::kUInt64:
    case DType::kFloat64:
      return 8;
  }
  return 0;
}

constexpr bool is_float(DType dtype) {
  return dtype == DType::kFloat16 || dtype == DType::kFloat32 || dtype == DType::kFloat64;
}
constexpr bool is_signed_integer(DType dtype) {
  return dtype == DType::kInt8 || dtype == DType::kInt16 || dtype == DType::kInt32 ||
         dtype == DType::kInt64;
}
constexpr bool is_integer(DType dtype) { return !is_float(dtype) && dtype != DType::kBool; }

// The least and greatest value of an integer type (bool: 0 and 1). uint64 is clipped to int64's
// range.
int64_t lowest(DType dtype);
int64_t highest(DType dtype);

// "int8", "float32", ...: the spelling of NAME.json and of diagnostics.
std::string_view name_of(DType dtype);
std::optional<DType> find_dtype(std::string_view name);

}  // namespace ingot
