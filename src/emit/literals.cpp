// SPDX-License-Identifier: Apache-2.0
#include "emit/literals.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include "support/check.h"

namespace ingot {

std::string c_scalar_type(DType dtype) {
  switch (dtype) {
    case DType::kBool:
      return "bool";
    case DType::kFloat32:
      return "float";
    case DType::kFloat64:
      return "double";
    case DType::kFloat16:
      return "uint16_t";
    default:
      return std::string(name_of(dtype)) + "_t";
  }
}

std::string c_element_type(DType dtype) {
  return dtype == DType::kBool ? "uint8_t" : c_scalar_type(dtype);
}

std::string int_literal(int64_t value, DType dtype) {
  CHECK(!is_float(dtype));
  if (dtype == DType::kUInt64)
    return "UINT64_C(" + std::to_string(static_cast<uint64_t>(value)) + ")";
  CHECK(value >= lowest(dtype) && value <= highest(dtype));
  if (dtype == DType::kUInt32) return std::to_string(value) + "u";
  if (value == std::numeric_limits<int64_t>::min()) return "(-INT64_C(9223372036854775807) - 1)";
  const int64_t magnitude = value < 0 ? -value : value;
  const std::string sign = value < 0 ? "-" : "";
  if (dtype == DType::kInt64) return sign + "INT64_C(" + std::to_string(magnitude) + ")";
  if (value == std::numeric_limits<int32_t>::min()) return "(-2147483647 - 1)";
  return std::to_string(value);
}

size_t write_float_literal(double value, DType dtype, std::span<char, 64> buffer) {
  CHECK(dtype == DType::kFloat32 || dtype == DType::kFloat64);
  const bool is_single = dtype == DType::kFloat32;
  CHECK(std::isfinite(value) && (!is_single || std::isfinite(static_cast<float>(value))));
  char* const first = buffer.data();
  char* const last = first + buffer.size();
  char* end = is_single ? std::to_chars(first, last, static_cast<float>(value)).ptr
                        : std::to_chars(first, last, value).ptr;
  const auto marks = [](char c) { return c == '.' || c == 'e'; };
  if (std::find_if(first, end, marks) == end) {
    *end++ = '.';
    *end++ = '0';
  }
  if (is_single) *end++ = 'f';
  return static_cast<size_t>(end - first);
}

std::optional<std::string> float_literal(double value, DType dtype) {
  CHECK(dtype == DType::kFloat32 || dtype == DType::kFloat64);
  if (!std::isfinite(value)) return std::nullopt;
  if (dtype == DType::kFloat32 && !std::isfinite(static_cast<float>(value))) return std::nullopt;
  std::array<char, 64> buffer{};
  return std::string(buffer.data(), write_float_literal(value, dtype, buffer));
}

}  // namespace ingot
