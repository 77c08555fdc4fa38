// SPDX-License-Identifier: Apache-2.0
// Code whose results nobody reads.
#pragma once
#include "loop/program.h"

namespace ingot::loop {

// The body of the same kernel without scalars and local arrays that nothing reads, with what is
// assigned and stored to them, and without loops and branches that are empty after that.
Block without_unread(Block block);

// The same, where a value that is clamped to one number counts as that number: a layer whose
// outputs are constant reads nothing.
Block without_dead_code(const Block& block);

}  // namespace ingot::loop
