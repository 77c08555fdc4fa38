// SPDX-License-Identifier: Apache-2.0
// Sums and maxima of bytes (pooling, means) on cores with the Arm DSP extension: reductions without
// a constant factor whose terms step through the channels of x.
//
// Four channels are one word of x. SSUB8 and SEL keep the greater bytes of two words; SXTAB16 adds
// the even and the odd bytes to halfwords, which hold 255 terms; longer sums go to 32 bits in
// between. Where windows are whole, short ones need no loop, and what the number of their elements
// is divided by is a literal. The last one to three channels are made one by one.
#pragma once
#include <optional>

#include "loop/program.h"
#include "schedule/rescheduled.h"

namespace ingot {

// nullopt if the kernel is of another form. `reverse`: outputs from the last to the first.
std::optional<Rescheduled> schedule_dsp_reduction(const loop::Kernel& kernel, bool reverse);

}  // namespace ingot
