// SPDX-License-Identifier: Apache-2.0
// Whether a compiled model fits what the user has.
#pragma once
#include "driver/compile.h"
#include "target/target.h"

namespace ingot {

// A message that names the buffers alive at the peak if the arena has more than `limit_bytes`.
// With pools the help is to make those larger.
Diagnostics check_arena_limit(const Compiled& compiled, int64_t limit_bytes);

// A message that names the largest constants if all together have more than `limit_bytes`.
Diagnostics check_flash_limit(const Compiled& compiled, int64_t limit_bytes);

// The same as check_arena_limit for each pool that what must lie in it does not fit.
Diagnostics check_pools(const Storage& storage);

// What is larger than an object of C can be where addresses have 32 bits, if the target's have.
Diagnostics check_addresses(const Storage& storage, const Target& target);

}  // namespace ingot
