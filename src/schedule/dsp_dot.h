// SPDX-License-Identifier: Apache-2.0
// Convolutions and dense layers on cores with the Arm DSP extension.
//
// Four elements of x that lie side by side are one word; SXTB16 makes two pairs of halfwords of it.
// The weights of two output channels stand in one halfword, 256 b + a: SMLAD with the halfwords as
// they are sums 256 B + A, with their low bytes A alone (docs/decisions/0008 has the counts). The
// zero point of x is added by SXTAB16; where all positions of a block are inside the image, it is
// part of a constant per channel instead, which leaves a register for a second position.
#pragma once
#include <optional>

#include "loop/program.h"
#include "schedule/rescheduled.h"

namespace ingot {

// nullopt if the kernel is of another form. `reverse`: outputs from the last to the first.
std::optional<Rescheduled> schedule_dsp_dot(const loop::Kernel& kernel, bool reverse);

}  // namespace ingot
