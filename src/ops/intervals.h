// SPDX-License-Identifier: Apache-2.0
// Which integers a quantised tensor can hold, whatever the caller's inputs are: per channel (index
// of the last dimension) a closed interval, found by walking the graph once in exact integer
// arithmetic. docs/shrinking.md has the argument.
//
// An operator's interval is what its own reference makes of the ends of its inputs' intervals. That
// is enough because every operator here is monotone in each element while the others are fixed:
// sums of products trivially; the requantisations because their factor is not negative and each of
// their roundings, shifts and saturations is non-decreasing. A function that is monotone in each
// argument takes its least and greatest value over a box in one of the box's corners. Functions of
// one byte are looked at in all 256 values. The elements of a tensor are taken as independent of
// each other, so the intervals are sound but need not be tight.
//
// The pass that removes channels uses it, and lowering may ask it for the range of accumulators.
#pragma once
#include <algorithm>
#include <compare>
#include <vector>

#include "loop/affine.h"
#include "ops/rules.h"

namespace ingot {

using loop::Interval;

inline Interval hull(Interval a, Interval b) {
  return {std::min(a.low, b.low), std::max(a.high, b.high)};
}

// What the int32 accumulator of one output channel can hold: conv_2d, depthwise_conv_2d and
// fully_connected on quantised tensors.
struct AccumulatorRange {
  // When all terms and the bias are in it, over all positions of the window, those at borders with
  // their fewer terms too. This is what requantisation receives.
  Interval total;
  // Of every partial sum, in whatever order the bias and the terms are added.
  Interval partial;
  // Of the output element before the node's epilogue: total, requantised and saturated.
  Interval output;

  bool operator==(const AccumulatorRange&) const = default;
};

struct Intervals {
  // By value, by index of the last dimension (one for a scalar). Empty for floats and, to save
  // memory, for constants, whose bytes say more.
  std::vector<std::vector<Interval>> values;
  // By node, by output channel; empty for nodes that are no quantised weighted sum with constant
  // weights and bias.
  std::vector<std::vector<AccumulatorRange>> accumulators;
};

// Whether the channels of all tensors are few enough to look at each. Networks for small cores have
// thousands; files that have millions are left as they are.
bool has_few_channels(const Graph& graph);

// Of a legal graph, before or after the passes. Time is linear in the weights, and in elements of
// tensors that are averaged.
Intervals analyse_intervals(const Graph& graph, Rounding rounding);

// The accumulators of one node; for many nodes keep the answer of analyse_intervals.
std::vector<AccumulatorRange> accumulator_ranges(const Graph& graph, NodeId node,
                                                 Rounding rounding);

// conv_2d, depthwise_conv_2d, fully_connected.
bool is_weighted_sum(const Op& op);

// The channels under another extent of the last dimension (reshape, rows of a fully connected
// layer). Row-major order is kept, so index j of the new dimension holds elements of those old
// indices that are equal to j modulo the greatest common divisor of both extents.
std::vector<Interval> regroup(const std::vector<Interval>& channels, int64_t extent);

// Per output channel of a quantised weighted sum with constant weights and bias (inputs[1],
// inputs[2]), from the intervals of x by channel.
std::vector<AccumulatorRange> weighted_sum_ranges(const Op& op, Operands inputs,
                                                  const TensorType& output,
                                                  const std::vector<Interval>& x,
                                                  Rounding rounding);

}  // namespace ingot
