// SPDX-License-Identifier: Apache-2.0
// The merging half of unroll and jam: copies of a loop's body, side by side.
#pragma once
#include <set>
#include <string>
#include <vector>

#include "loop/program.h"

namespace ingot::loop {

// `copies` of one body (equal but for names and what stands for the iteration, which must not
// depend on each other) merged statement by statement: loops with equal bounds and branches with
// equal conditions become one, and what all copies of an assignment load alike is loaded once,
// under a name that is added to `taken`.
Block jam(const std::vector<Block>& copies, std::set<std::string>& taken);

}  // namespace ingot::loop
