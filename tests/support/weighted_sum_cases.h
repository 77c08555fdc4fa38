// SPDX-License-Identifier: Apache-2.0
// Random int8 and float tensors for operators that multiply by weights, and what the operators mean
// in real numbers, computed in double by another way than the reference's: on copies of the tensors
// with the padding and the holes of dilation written out.
#pragma once
#include <vector>

#include "tests/support/one_node.h"
#include "tests/support/random.h"
#include "tests/support/types.h"

namespace ingot::testing {

// How a case is quantised.
struct Style {
  bool is_float = false;
  bool is_hybrid = false;   // with is_float: the weights are int8
  bool asymmetric = false;  // of hybrid layers: their inputs
  bool per_channel = false;
  bool has_bias = true;
  bool saturates = false;  // the output's scale is far too small
};
Style random_style(Random& random);

// x, weights and bias as inputs, and the declared output, for weights with `channels` indices in
// dimension `axis`, each output being a sum of `num_terms` products.
OneNode weighted_sum_node(Op op, Shape x, Shape weights, int64_t axis, int64_t num_terms,
                          const Style& style, Random& random);

// The element of input `i` of the node at `index`, as a real number; integers without scale are
// taken as they are.
double real_at(const TestInput& input, int64_t index, int64_t channel);

// The exact outputs as real numbers, in units of the output's scale and without its zero point, for
// a node with data. Saturation and rounding are left to the reader.
std::vector<double> exact_convolution(const OneNode& node, int64_t groups, bool depthwise);

// How far from the exact number an output may be: half a unit, and where two roundings follow each
// other up to a quarter more (the first is in units of at most a half). Hybrid layers: what it
// makes if every input is a step of its quantisation off. For a node with data.
double tolerance_of(const OneNode& node);

// The first output whose distance from the exact number (saturated) is more than `tolerance`; empty
// if there is none.
std::string far_from_exact(const OneNode& node, const std::vector<double>& exact, double tolerance);

}  // namespace ingot::testing
