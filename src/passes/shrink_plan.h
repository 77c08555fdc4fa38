// SPDX-License-Identifier: Apache-2.0
// What shrinking decides before it rewrites anything: which channels are constant, and which must
// stay.
#pragma once
#include <optional>
#include <vector>

#include "passes/channels.h"
#include "passes/shrink.h"

namespace ingot {

// The weights of a conv_2d (of one group) or fully_connected node: rows are output channels,
// columns what one tap or row of the input holds.
class WeightMatrix {
 public:
  // The node must be one of those two, with constant weights.
  WeightMatrix(const Graph& graph, const Node& node);

  int64_t rows() const { return rows_; }
  int64_t columns() const { return columns_; }
  int64_t taps() const { return taps_; }
  int64_t index(int64_t row, int64_t tap, int64_t column) const {
    return (row * taps_ + tap) * columns_ + column;
  }
  // The channel of x, the first of those that are tied, that a column multiplies.
  int64_t channel(int64_t column) const { return column % divisor_; }
  int64_t num_channels() const { return divisor_; }
  bool is_zero(int64_t row, int64_t column) const;
  // All weights of a column are numbers that 0 can be multiplied by.
  bool is_finite(int64_t row, int64_t column) const;
  // The sum of the quantised weights over the taps, each less its zero point.
  int64_t sum(int64_t row, int64_t column) const;
  bool is_float() const { return !floats_.empty(); }
  int64_t zero_point(int64_t row) const;

 private:
  int64_t rows_ = 0;
  int64_t columns_ = 0;
  int64_t taps_ = 1;
  int64_t divisor_ = 1;
  std::vector<int64_t> zero_points_;
  Bytes bytes_;
  std::vector<float> floats_;
};

// Whether some position of the node's window reaches beyond the image.
bool has_border(const Graph& graph, const Node& node);

// By slot: the value that a channel always has, in units of the element. Of float tensors only 0 is
// found, of either sign.
std::vector<std::optional<int64_t>> constant_channels(const Graph& graph, const Channels& channels,
                                                      const Intervals& intervals);

struct ShrinkPlan {
  Intervals intervals;
  Channels channels;
  std::vector<std::optional<int64_t>> constants;  // by slot
  std::vector<bool> kept;                         // by class of channels

  bool is_kept(int64_t slot) const { return kept[static_cast<size_t>(channels.class_of(slot))]; }
  // Ascending; all of a constant's.
  std::vector<int64_t> kept_channels(const Graph& graph, ValueId id) const;
  // Whether output channel `row` of a quantised weighted sum is constant: then no weight of it
  // matters.
  bool is_constant_row(const Node& node, int64_t row) const;
  // By channel of the weights' columns: whether the node's sums can do without it, because the
  // input is constant there and so is its part of the sum, whatever the position.
  std::vector<bool> foldable_channels(const Graph& graph, const Node& node,
                                      const WeightMatrix& weights) const;
};

ShrinkPlan plan_shrinking(const Graph& graph, Rounding rounding);

}  // namespace ingot
