// SPDX-License-Identifier: Apache-2.0
// What NAME.json states of additions and subtractions of bytes.
#pragma once
#include <string>

#include "assay/json.h"
#include "assay/loops.h"

namespace ingot::assay {

// Throws Lie (assay/code.h) if the stated integers give, for some pair of operands, another output
// than the reference's arithmetic on the stated scales, if a step of theirs leaves int32, or if
// the table that they name holds others. `name` is the operator's.
void check_sum(const Json& sum, bool single, const std::string& name, const Loops& loops);

}  // namespace ingot::assay
