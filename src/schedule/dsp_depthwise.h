// SPDX-License-Identifier: Apache-2.0
// Depthwise convolutions on cores with the Arm DSP extension: sums whose terms step through the
// channels of x and of the weights alike.
//
// Four channels are one word of x and one of the weights; SXTB16 makes two pairs of halfwords of
// each, and SMLABB and SMLATT multiply the halves. Two neighbouring columns share the weights. The
// zero point of x is added by SXTAB16, or is part of a constant per channel where two columns are
// made. A last group of fewer than four channels is made with channels before it once more.
#pragma once
#include <optional>

#include "loop/program.h"
#include "schedule/rescheduled.h"

namespace ingot {

// nullopt if the kernel is of another form. `reverse`: outputs from the last to the first.
std::optional<Rescheduled> schedule_dsp_depthwise(const loop::Kernel& kernel, bool reverse);

}  // namespace ingot
