// SPDX-License-Identifier: Apache-2.0
// Whether the iterations of a loop could run in any order, and merged statement by statement.
#pragma once
#include "loop/program.h"

namespace ingot::loop {

// `loop` is a loop inside `block`. True if it was shown that its iterations assign no scalar from
// outside, load nothing that they store, and that no two of them store to the same element. Buffers
// of different names are taken to be apart.
bool has_independent_iterations(const Block& block, const For& loop);

}  // namespace ingot::loop
