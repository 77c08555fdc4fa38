// SPDX-License-Identifier: Apache-2.0
#include "tensor/dtype.h"

#include <algorithm>
#include <array>
#include <limits>

#include "support/check.h"

namespace ingot {
namespace {

// In the order of the enumerators.
constexpr auto kNames =
    std::to_array<std::string_view>({"bool", "int8", "uint8", "int16", "uint16", "int32", "uint32",
                                     "int64", "uint64", "float16", "float32", "float64"});

}  // namespace

int64_t lowest(DType dtype) {
  CHECK(!is_float(dtype));
  if (!is_signed_integer(dtype)) return 0;
  return std::numeric_limits<int64_t>::min() >> (64 - 8 * size_in_bytes(dtype));
}

int64_t highest(DType dtype) {
  CHECK(!is_float(dtype));
  if (dtype == DType::kBool) return 1;
  const int64_t value_bits = 8 * size_in_bytes(dtype) - (is_signed_integer(dtype) ? 1 : 0);
  return std::numeric_limits<int64_t>::max() >> std::max<int64_t>(63 - value_bits, 0);
}

std::string_view name_of(DType dtype) { return kNames.at(static_cast<size_t>(dtype)); }

std::optional<DType> find_dtype(std::string_view name) {
  const auto* found = std::ranges::find(kNames, name);
  if (found == kNames.end()) return std::nullopt;
  return static_cast<DType>(found - kNames.begin());
}

}  // namespace ingot
