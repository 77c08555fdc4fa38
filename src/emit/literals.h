// SPDX-License-Identifier: Apache-2.0
// C's spelling of types and of numbers.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "tensor/dtype.h"

namespace ingot {

// The type of a scalar in C: "int8_t", "float", "bool".
std::string c_scalar_type(DType dtype);

// The type of an element in memory: as above, but bools are uint8_t (0 or 1) and float16 is
// uint16_t (its bits).
std::string c_element_type(DType dtype);

// An integer literal of a type no narrower than `dtype`. Literals below 0 start with a minus, the
// least values of int32 and int64 are sums in parentheses.
std::string int_literal(int64_t value, DType dtype);

// The decimal with the fewest digits that reads back exactly ("0.5f", "-0.0f", "1e+10f"; doubles
// without the f), or nothing for an infinity or a NaN: there is no literal for them.
std::optional<std::string> float_literal(double value, DType dtype);
// The same into `buffer`; returns its length. The value must be finite in its type.
size_t write_float_literal(double value, DType dtype, std::span<char, 64> buffer);

}  // namespace ingot
