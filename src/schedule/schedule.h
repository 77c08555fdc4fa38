// SPDX-License-Identifier: Apache-2.0
// Which loop transformations each kernel gets. The plain nest that `lower` made stays the meaning;
// what comes out computes the same values, access by access the same elements.
#pragma once
#include "loop/program.h"
#include "target/target.h"

namespace ingot {

loop::Program schedule(loop::Program program, const Target& target);

}  // namespace ingot
