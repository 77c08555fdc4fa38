// SPDX-License-Identifier: Apache-2.0
// Instructions that C has no operator for, as functions of loop programs: each one's body is its
// meaning, its assembly the instruction (Arm Architecture Reference Manuals). Schedules call them
// by name and add those that they use to the program.
#pragma once
#include <vector>

#include "loop/program.h"

namespace ingot {

// The Arm DSP extension on halfwords: sxtb16, sxtb16_ror8, sxtab16, sxtab16_ror8, low_bytes,
// saturate_int8, smuad, smlad, smlabb, smlatt.
std::vector<loop::Function> arm_dsp_intrinsics();

// Sums of halfwords: sadd16, ssub16, masked_halves.
std::vector<loop::Function> arm_dsp_sums();

// greater_bytes: SSUB8 and SEL.
loop::Function arm_greater_bytes();

// multiply_add: VMLA of the single-precision units of Cortex-M, which rounds the product and the
// sum apart.
loop::Function arm_float_multiply_add();

}  // namespace ingot
