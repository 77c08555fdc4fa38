// SPDX-License-Identifier: Apache-2.0
// In which element types an operator is computed, found out by asking its rules about a tensor of
// one element in every type: no list to keep.
#pragma once
#include <string>
#include <vector>

#include "graph/ops.h"

namespace ingot {

// "int8", "float32 with int8 weights", "int8 -> float32", in the order of the element types.
std::vector<std::string> element_types(const Op& op);

}  // namespace ingot
