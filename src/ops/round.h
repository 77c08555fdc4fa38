// SPDX-License-Identifier: Apache-2.0
// Rounding of floats to integers in kernels.
#pragma once
#include "loop/loop.h"

namespace ingot {

// The integer nearest to its argument q, ties away from zero, for |q| < 2^31; 0 if q is not a
// number. For float32 it is called "round_to_int", for float64 "round_double_to_int".
loop::Function round_function(loop::Type type);

}  // namespace ingot
