// SPDX-License-Identifier: Apache-2.0
// The oracle triangle's first two corners for one operator: its reference and its loops must agree
// byte for byte, and every access of the loops must be proved in bounds.
#pragma once
#include <string>

#include "loop/program.h"
#include "ops/lowering.h"
#include "tests/support/one_node.h"

namespace ingot::testing {

// The lowered node as a program of one kernel, inputs and outputs being the caller's.
loop::Program program_of(const OneNode& node, ProvedForms forms = {});

// Empty if reference and loops agree on the node (which infer and limits must accept); else what is
// wrong, with the operator, the seed and the loops.
std::string disagreement(const OneNode& node, ProvedForms forms = {});

}  // namespace ingot::testing
