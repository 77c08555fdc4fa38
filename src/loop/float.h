// SPDX-License-Identifier: Apache-2.0
// The float types of programs on the host: half precision in software, and rounding to a type.
#pragma once
#include <cstdint>

#include "tensor/dtype.h"

namespace ingot::loop {

// IEEE binary16, round to nearest even.
double half_to_double(uint16_t bits);
uint16_t double_to_half(double value);

// `value` rounded once to the nearest (ties to even) value of float type `dtype`.
double round_to_float(double value, DType dtype);

}  // namespace ingot::loop
