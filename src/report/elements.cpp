// SPDX-License-Identifier: Apache-2.0
#include "report/elements.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>

namespace ingot {
namespace {

template <class T>
T element(std::span<const uint8_t> bytes, size_t index) {
  T value;
  std::memcpy(&value, bytes.data() + index * sizeof(T), sizeof(T));
  return value;
}

double half_to_double(uint16_t bits) {
  const int exponent = bits >> 10U & 31U;
  const int fraction = bits & 0x3ffU;
  const double sign = (bits & 0x8000U) != 0 ? -1.0 : 1.0;
  if (exponent == 31) return fraction == 0 ? sign * INFINITY : NAN;
  if (exponent == 0) return sign * std::ldexp(fraction, -24);
  return sign * std::ldexp(fraction + 1024, exponent - 25);
}

Json float_json(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  return value;
}

Json element_json(DType dtype, std::span<const uint8_t> bytes, size_t i) {
  switch (dtype) {
    case DType::kBool:
      return element<uint8_t>(bytes, i) != 0;
    case DType::kInt8:
      return element<int8_t>(bytes, i);
    case DType::kUInt8:
      return element<uint8_t>(bytes, i);
    case DType::kInt16:
      return element<int16_t>(bytes, i);
    case DType::kUInt16:
      return element<uint16_t>(bytes, i);
    case DType::kInt32:
      return element<int32_t>(bytes, i);
    case DType::kUInt32:
      return element<uint32_t>(bytes, i);
    case DType::kInt64:
      return element<int64_t>(bytes, i);
    case DType::kUInt64:
      return element<uint64_t>(bytes, i);
    case DType::kFloat16:
      return float_json(half_to_double(element<uint16_t>(bytes, i)));
    case DType::kFloat32:
      return float_json(static_cast<double>(element<float>(bytes, i)));
    case DType::kFloat64:
      return float_json(element<double>(bytes, i));
  }
  return {};
}

size_t num_elements(DType dtype, std::span<const uint8_t> bytes) {
  return bytes.size() / static_cast<size_t>(size_in_bytes(dtype));
}

}  // namespace

Json elements_json(DType dtype, std::span<const uint8_t> bytes) {
  Json elements = Json::array();
  for (size_t i = 0; i < num_elements(dtype, bytes); ++i) {
    elements.push_back(element_json(dtype, bytes, i));
  }
  return elements;
}

std::string elements_text(DType dtype, std::span<const uint8_t> bytes, int64_t most) {
  const size_t n = num_elements(dtype, bytes);
  std::string text;
  for (size_t i = 0; i < n && i < static_cast<size_t>(most); ++i) {
    const Json json = element_json(dtype, bytes, i);
    text += (i > 0 ? " " : "") + (json.is_string() ? json.get<std::string>()
                                  : dtype == DType::kFloat32
                                      ? fmt::format("{}", element<float>(bytes, i))
                                      : json.dump());
  }
  if (n > static_cast<size_t>(most)) text += fmt::format(" ... ({} elements)", n);
  return text;
}

}  // namespace ingot
