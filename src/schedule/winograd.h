// SPDX-License-Identifier: Apache-2.0
// Winograd's F(2x2, 3x3) in exact integers for kernels that slide a window of 3 x 3 with step 1
// over bytes (docs/decisions/0015): 16 products per channel make four outputs instead of 36, for
// the price of weights of 16 bits, 16 where there were 9, and of scratch memory.
//
//   V = B' d B     of 4 x 4 inputs less their zero point     (Winograd, 1980; Lavin and Gray, 2015)
//   U = G w G'     with G twice the usual one per axis, so that all are integers
//   A' (sum over channels of U * V) A = four outputs times 4, exactly
#pragma once
#include <optional>
#include <vector>

#include "schedule/rescheduled.h"

namespace ingot {

// For the Arm DSP extension: two tiles of 2 x 2 outputs and four output channels are made
// together. nullopt if the kernel is none of this kind.
std::optional<Rescheduled> schedule_winograd(const loop::Kernel& kernel, bool reverse);

// The intrinsics that it calls.
std::vector<loop::Function> winograd_functions();

}  // namespace ingot
