// SPDX-License-Identifier: Apache-2.0
// Whether a compiled model fits what the user has.
#pragma once
#include "driver/compile.h"

namespace ingot {

// A message that names the buffers alive at the peak if the arena has more than `limit_bytes`.
Diagnostics check_arena_limit(const Compiled& compiled, int64_t limit_bytes);

}  // namespace ingot
