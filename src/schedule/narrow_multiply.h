// SPDX-License-Identifier: Apache-2.0
// Products of 64 bits on cores that multiply 32 x 32 -> 32 bits only, where a call of the
// compiler's library takes twice the instructions: the forms that requantisation has,
//   (a * b + 2^30) >> 31   and   (a * b + c) >> shift, shift >= 32,
// from four products of halfwords; from three where the sums that can be reached (program.notes)
// bound (a * b + c) >> 16 to int32.
#pragma once
#include "loop/program.h"

namespace ingot {

// Every such expression of the kernels and the functions becomes a call of a function.
void narrow_multiplications(loop::Program& program);

}  // namespace ingot
