// SPDX-License-Identifier: Apache-2.0
// Channels that always hold one value: of integers those whose interval is a point, of floats those
// that are exactly zero, found by walking forward.
//
// A float sum starts at +0, and no sum of floats that does not start at -0 is ever -0 (x + -x is
// +0); so terms that are zero, of either sign, leave it as it is, bit for bit. 0 * x is zero only
// for finite x: what is found holds for inputs that keep every tensor finite (docs/shrinking.md).
#include <algorithm>
#include <cmath>
#include <numeric>

#include "ops/access.h"
#include "passes/shrink_plan.h"

namespace ingot {
namespace {

class ZeroWalk {
 public:
  ZeroWalk(const Graph& graph, const Channels& channels,
           std::vector<std::optional<int64_t>>& constants)
      : graph_(graph), channels_(channels), constants_(constants) {}

  void run() {
    for (const Node& node : graph_.nodes) {
      if (!yields_any_channels(graph_, node)) continue;
      const ValueId y = node.outputs[0];
      if (graph_[y].type.dtype != DType::kFloat32) continue;
      find_parts(node);
      for (int64_t c = 0; c < channels_.count(y); ++c) {
        if (is_zero(node, c)) constants_[static_cast<size_t>(channels_.slot(y, c))] = 0;
      }
    }
  }

 private:
  std::optional<int64_t> known(ValueId id, int64_t channel) const {
    return constants_[static_cast<size_t>(channels_.slot(id, channel))];
  }

  // Where the channels of each input of a concatenation begin among those of its result.
  void find_parts(const Node& node) {
    parts_.clear();
    if (!node.as<Concat>()) return;
    int64_t begin = 0;
    for (const ValueId x : node.inputs) {
      parts_.push_back(begin);
      begin += last_extent(graph_[x].type);
    }
  }

  // Channel `channel` of a float input of `node`, or the only one.
  bool is_zero_input(ValueId id, int64_t channel) const {
    if (graph_[id].is_constant())
      return all_of_constant(id, channel, [](float f) { return f == 0; });
    return known(id, channels_.count(id) == 1 ? 0 : channel).has_value();
  }
  bool is_finite_input(ValueId id, int64_t channel) const {
    return !graph_[id].is_constant() ||
           all_of_constant(id, channel, [](float f) { return std::isfinite(f); });
  }
  template <class Predicate>
  bool all_of_constant(ValueId id, int64_t channel, Predicate holds) const {
    const TensorView view = {&graph_[id].type, graph_[id].constant->view()};
    const int64_t extent = last_extent(*view.type);
    for (int64_t i = extent == 1 ? 0 : channel; i < view.type->num_elements(); i += extent) {
      if (!holds(float_at(view, i))) return false;
    }
    return true;
  }

  bool is_zero(const Node& node, int64_t channel) {
    const ValueId x = node.inputs.at(0);
    if (node.as<Dequantize>()) return known(x, channel) == graph_[x].type.zero_point();
    if (node.as<Copy>() || node.as<Pool2D>() || node.as<Reduce>()) return is_zero_input(x, channel);
    if (const auto* clamp = node.as<Clamp>()) {
      return clamp->low <= 0 && 0 <= clamp->high && is_zero_input(x, channel);
    }
    if (const auto* pad = node.as<Pad>()) return pad->value == 0 && is_zero_input(x, channel);
    if (const auto* binary = node.as<Binary>()) return is_zero_binary(*binary, node, channel);
    if (const auto* concat = node.as<Concat>()) return is_zero_concat(*concat, node, channel);
    if (node.as<Reshape>()) return is_zero_reshape(node, channel);
    if (node.as<DepthwiseConv2D>()) return is_zero_depthwise(node, channel);
    return is_weighted_sum(node.op) && is_zero_sum(node, channel);
  }

  bool is_zero_binary(const Binary& binary, const Node& node, int64_t channel) const {
    const ValueId x = node.inputs[0];
    const ValueId z = node.inputs.at(1);
    if (binary.kind != Binary::Kind::kMul) {
      return is_zero_input(x, channel) && is_zero_input(z, channel);
    }
    return (is_zero_input(x, channel) && is_finite_input(z, channel)) ||
           (is_zero_input(z, channel) && is_finite_input(x, channel));
  }

  // After find_parts().
  bool is_zero_concat(const Concat& concat, const Node& node, int64_t channel) const {
    const bool along_channels = concat.axis + 1 == graph_[node.outputs[0]].type.rank();
    if (along_channels) {
      // The last part that begins at or before the channel; parts before it may be empty.
      const auto part = std::ranges::upper_bound(parts_, channel) - 1;
      const ValueId x = node.inputs.at(static_cast<size_t>(part - parts_.begin()));
      return is_zero_input(x, channel - *part);
    }
    return std::ranges::all_of(node.inputs, [&](ValueId x) { return is_zero_input(x, channel); });
  }

  bool is_zero_reshape(const Node& node, int64_t channel) const {
    const ValueId x = node.inputs[0];
    const int64_t divisor = std::gcd(channels_.count(x), channels_.count(node.outputs[0]));
    for (int64_t c = channel % divisor; c < channels_.count(x); c += divisor) {
      if (!known(x, c)) return false;
    }
    return true;
  }

  bool has_zero_bias(const Node& node, int64_t channel) const {
    if (node.inputs.size() < 3 || !node.inputs[2].present()) return true;
    const Value& bias = graph_[node.inputs[2]];
    return float_at({&bias.type, bias.constant->view()}, channel) == 0;
  }

  bool is_zero_depthwise(const Node& node, int64_t channel) const {
    const ValueId x = node.inputs[0];
    const int64_t multiplier = channels_.count(node.outputs[0]) / channels_.count(x);
    const bool has_zero_input = known(x, channel / multiplier).has_value();
    return has_zero_bias(node, channel) && all_of_constant(node.inputs[1], channel, [&](float f) {
             return f == 0 || (has_zero_input && std::isfinite(f));
           });
  }

  bool is_zero_sum(const Node& node, int64_t row) {
    if (!has_zero_bias(node, row)) return false;
    const ValueId x = node.inputs[0];
    if (last_node_ != &node) {
      last_node_ = &node;
      matrix_.emplace(graph_, node);
    }
    for (int64_t column = 0; column < matrix_->columns(); ++column) {
      if (matrix_->is_zero(row, column)) continue;
      if (graph_[x].is_constant() || !matrix_->is_finite(row, column)) return false;
      for (int64_t c = matrix_->channel(column); c < channels_.count(x);
           c += matrix_->num_channels()) {
        if (!known(x, c)) return false;
      }
    }
    return true;
  }

  const Graph& graph_;
  const Channels& channels_;
  std::vector<std::optional<int64_t>>& constants_;
  std::vector<int64_t> parts_;       // of the current node, as find_parts() finds them
  const Node* last_node_ = nullptr;  // whose weights these are
  std::optional<WeightMatrix> matrix_;
};

}  // namespace

std::vector<std::optional<int64_t>> constant_channels(const Graph& graph, const Channels& channels,
                                                      const Intervals& intervals) {
  std::vector<std::optional<int64_t>> constants(static_cast<size_t>(channels.num_slots()));
  for (size_t v = 0; v < graph.values.size(); ++v) {
    const ValueId id{static_cast<int32_t>(v)};
    if (channels.count(id) == 0) continue;
    const std::vector<Interval>& known = intervals.values[v];
    for (size_t c = 0; c < known.size(); ++c) {
      if (!known[c].is_constant()) continue;
      constants[static_cast<size_t>(channels.slot(id, static_cast<int64_t>(c)))] = known[c].low;
    }
  }
  ZeroWalk(graph, channels, constants).run();
  return constants;
}

}  // namespace ingot
