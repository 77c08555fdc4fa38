// SPDX-License-Identifier: Apache-2.0
// The shadow run (loop/shadow.h) of a compiled model.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "driver/compile.h"
#include "toolchain/harness_text.h"

namespace ingot {

// What the program of `compiled` reads that is not there when it is interpreted on the inputs of
// the first vector; empty if all is well. `inputs_writable`: as it was compiled.
std::vector<std::string> shadow_violations(const Compiled& compiled, bool inputs_writable,
                                           std::span<const toolchain::GoldenVector> vectors);

}  // namespace ingot
