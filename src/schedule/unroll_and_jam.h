// SPDX-License-Identifier: Apache-2.0
// Unroll and jam (Carr and Kennedy's name for it): several iterations of an outer loop run side by
// side, so that what they have in common is loaded once and their sums stay in registers.
//
//   for oc = 0 to 64 { acc = b[oc]; for ic ... { acc += x[ic] * w[oc*K + ic] }; y[oc] = acc }
//   ->
//   for oc = 0 to 64 step 4 {
//     acc_0 = b[oc]; ... acc_3 = b[oc + 3]
//     for ic ... { x_0 = x[ic]; acc_0 += x_0 * w[...]; ... acc_3 += x_0 * w[...] }
//     y[oc] = acc_0; ... y[oc + 3] = acc_3
//   }
#pragma once
#include <optional>
#include <string>

#include "loop/program.h"

namespace ingot {

// `kernel` with the loop over `variable` unrolled by `factor` and jammed; iterations left over
// follow as one narrower block. Nothing if there is no such loop with constant bounds and step 1,
// or if it may not be done: an iteration reads what another writes, a local of outside is assigned,
// or inner loops' bounds differ between iterations.
std::optional<loop::Kernel> unroll_and_jam(const loop::Kernel& kernel, const std::string& variable,
                                           int64_t factor);

}  // namespace ingot
