// SPDX-License-Identifier: Apache-2.0
// Every small shape of an operator, with data: odd extents, strides, paddings, dilations, groups,
// multipliers, zero points, batches, in all roundings. What all small shapes agree on, large ones
// do too: the loops have no other cases. The same in every run.
#pragma once
#include <vector>

#include "tests/support/one_node.h"

namespace ingot::testing {

std::vector<OneNode> conv_2d_cases();
std::vector<OneNode> depthwise_conv_2d_cases();
std::vector<OneNode> fully_connected_cases();
std::vector<OneNode> pool_2d_cases();

}  // namespace ingot::testing
