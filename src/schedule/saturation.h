// SPDX-License-Identifier: Apache-2.0
// Saturation as one instruction. Compilers find it in min and max only while both bounds are still
// literals; in larger kernels they share a register and the pattern is lost.
#pragma once
#include "loop/program.h"
#include "target/target.h"

namespace ingot {

// min(max(x, -128), 127) in `body` as a call of the target's saturate_int8, if it has one.
loop::Block with_saturation(const loop::Block& body, const Target& target);

}  // namespace ingot
