// SPDX-License-Identifier: Apache-2.0
// Small shapes of the operators that work element by element, move, reduce or normalise, with data:
// ranks 0 .. 4, broadcasting, zero points, scales that round, in all roundings. The same in every
// run.
#pragma once
#include <vector>

#include "tests/support/one_node.h"

namespace ingot::testing {

std::vector<OneNode> binary_cases();
std::vector<OneNode> elementwise_cases();  // unary, clamp, requantize, quantize, dequantize
std::vector<OneNode> pad_cases();
std::vector<OneNode> reduce_cases();
std::vector<OneNode> move_cases();  // reshape, copy, slice, transpose, resize_nearest
std::vector<OneNode> concat_cases();
std::vector<OneNode> softmax_cases();

}  // namespace ingot::testing
