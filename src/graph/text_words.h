// SPDX-License-Identifier: Apache-2.0
// The words that the printer and the parser of graph/text.h share.
#pragma once
#include <algorithm>
#include <array>
#include <string_view>

#include "tensor/dtype.h"

namespace ingot::text_words {

inline constexpr auto kReserved =
    std::to_array<std::string_view>({"_", "graph", "output", "node", "sources"});

inline bool starts_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
inline bool continues_name(char c) {
  return starts_name(c) || (c >= '0' && c <= '9') ||
         std::string_view("./:;-").find(c) != std::string_view::npos;
}

// The length of the longest bare name at the start of `text`; 0 if there is none.
inline size_t name_length(std::string_view text) {
  if (text.empty() || !starts_name(text[0])) return 0;
  size_t length = 1;
  while (length < text.size() && continues_name(text[length])) ++length;
  while (text[length - 1] == ':' || text[length - 1] == '-') --length;
  return length;
}

inline bool is_bare_name(std::string_view text) {
  return !text.empty() && name_length(text) == text.size() &&
         std::ranges::find(kReserved, text) == kReserved.end();
}

// Calls visit.template operator()<T>() with the C++ type of a dtype's elements; false for those
// that have none (float16).
template <class Visit>
bool visit_element_type(DType dtype, Visit visit) {
  switch (dtype) {
    case DType::kBool:
    case DType::kUInt8:
      return visit.template operator()<uint8_t>(), true;
    case DType::kInt8:
      return visit.template operator()<int8_t>(), true;
    case DType::kInt16:
      return visit.template operator()<int16_t>(), true;
    case DType::kUInt16:
      return visit.template operator()<uint16_t>(), true;
    case DType::kInt32:
      return visit.template operator()<int32_t>(), true;
    case DType::kUInt32:
      return visit.template operator()<uint32_t>(), true;
    case DType::kInt64:
      return visit.template operator()<int64_t>(), true;
    case DType::kUInt64:
      return visit.template operator()<uint64_t>(), true;
    case DType::kFloat32:
      return visit.template operator()<float>(), true;
    case DType::kFloat64:
      return visit.template operator()<double>(), true;
    case DType::kFloat16:
      return false;
  }
  return false;
}

}  // namespace ingot::text_words
