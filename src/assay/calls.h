// SPDX-License-Identifier: Apache-2.0
// What must hold before a program is run.
#pragma once
#include "assay/layout.h"
#include "assay/loops.h"

namespace ingot::assay {

// Throws Lie (assay/code.h) unless the runner calls what exists with what it needs, none stores to
// a constant, nor to an input unless inputs may be reused, and the caller's buffers are outside the
// arena unless asked into it.
void check_calls(const Loops& loops, const Json& options);

}  // namespace ingot::assay
