// SPDX-License-Identifier: Apache-2.0
#include "loop/type.h"

#include <fmt/format.h>

#include <charconv>

#include "loop/typing.h"

namespace ingot::loop {

std::string print(Type type) {
  if (type.is_scalar()) return std::string(name_of(type.dtype));
  return fmt::format("{}{}{}", name_of(type.dtype), type.packed ? 'p' : 'x', type.lanes);
}

std::optional<Type> find_type(std::string_view text) {
  if (const std::optional<DType> dtype = find_dtype(text)) return Type{*dtype};
  const size_t split = text.find_last_of("px");
  if (split == std::string_view::npos) return std::nullopt;
  const std::optional<DType> dtype = find_dtype(text.substr(0, split));
  const std::string_view digits = text.substr(split + 1);
  if (!dtype || digits.empty() || digits.front() == '0') return std::nullopt;
  Type type{*dtype, 0, text[split] == 'p'};
  const char* end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, type.lanes);
  if (error != std::errc() || stop != end || type.lanes < 2) return std::nullopt;
  return is_valid(type) ? std::optional(type) : std::nullopt;
}

}  // namespace ingot::loop
