// SPDX-License-Identifier: Apache-2.0
// Kernels that differ only in literals (zero points, multipliers, bounds of activations) become
// one: what differs is passed as scalars. Flash matters, and so does a reader's time.
//
//   y[i] = int8(min(max(requantize(acc, 1717986918, 7), -128), 127))
//   y[i] = int8(min(max(requantize(acc, 1288490188, 6), -128), 127))
//   -> kernel(..., y; multiplier: int32, right: int32)
#pragma once
#include "loop/program.h"

namespace ingot {

// `program` with such kernels merged into the first of them. Literals in bounds of loops,
// conditions of branches, indices and amounts of 64-bit shifts stay, so that every access is proved
// for all calls at once; where that takes a literal that differs, kernels stay apart.
loop::Program share_kernels(loop::Program program);

}  // namespace ingot
