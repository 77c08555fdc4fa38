// SPDX-License-Identifier: Apache-2.0
// What NAME.json states of additions and subtractions of bytes.
#pragma once
#include <string>

#include "assay/json.h"

namespace ingot::assay {

// Throws Lie (assay/code.h) if the stated integers give, for some pair of operands, another output
// than the reference's arithmetic on the stated scales, or if a step of theirs leaves int32.
// `name` is the operator's.
void check_sum(const Json& sum, bool single, const std::string& name);

}  // namespace ingot::assay
