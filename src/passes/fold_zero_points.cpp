// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>
#include <optional>
#include <span>

#include "passes/passes.h"

namespace ingot {
namespace {

// Of all new biases together: several times what models have.
constexpr int64_t kMostBytes = int64_t{1} << 24;

// The attribute to set, if the operator is one that can carry its zero point in the bias.
bool* flag_of(Node& node) {
  if (auto* conv = node.as<Conv2D>()) {
    return conv->padding == Padding{} ? &conv->zero_point_in_bias : nullptr;
  }
  if (auto* depthwise = node.as<DepthwiseConv2D>()) {
    return depthwise->padding == Padding{} ? &depthwise->zero_point_in_bias : nullptr;
  }
  if (auto* dense = node.as<FullyConnected>()) return &dense->zero_point_in_bias;
  return nullptr;
}

// The sum of the weights of each output channel. The channels are the first dimension, but the last
// of a depthwise filter.
std::vector<int64_t> channel_sums(const Node& node, const Value& filter) {
  const std::span<const uint8_t> weights = filter.constant->view();
  const bool last = node.as<DepthwiseConv2D>() != nullptr;
  const int64_t channels = last ? filter.type.shape.back() : filter.type.shape.front();
  std::vector<int64_t> sums(static_cast<size_t>(channels), 0);
  if (channels == 0) return sums;
  const size_t per_channel = weights.size() / sums.size();
  size_t i = 0;
  if (last) {
    for (size_t row = 0; row < per_channel; ++row) {
      for (int64_t& sum : sums) sum += static_cast<int8_t>(weights[i++]);
    }
  } else {
    for (int64_t& sum : sums) {
      for (size_t n = 0; n < per_channel; ++n) sum += static_cast<int8_t>(weights[i++]);
    }
  }
  return sums;
}

bool has_zero_points_of_zero(const TensorType& type) {
  return type.is_quantized() &&
         std::ranges::all_of(type.quantization->zero_points, [](int64_t z) { return z == 0; });
}

// The bias with the zero point of x folded in; nullopt where the node is not of the kind or the sum
// leaves int32.
std::optional<std::vector<int32_t>> folded_bias(const Graph& graph, const Node& node) {
  const Value& x = graph[node.inputs.at(0)];
  const Value& filter = graph[node.inputs.at(1)];
  const bool int8 = x.type.dtype == DType::kInt8 && filter.type.dtype == DType::kInt8;
  if (!int8 || !x.type.is_quantized() || !filter.is_constant() ||
      !has_zero_points_of_zero(filter.type)) {
    return std::nullopt;
  }
  const std::vector<int64_t> sums = channel_sums(node, filter);
  std::vector<int32_t> bias(sums.size(), 0);
  if (node.inputs.size() > 2 && node.inputs[2].present()) {
    const Value& old = graph[node.inputs[2]];
    if (!old.is_constant() || old.type.dtype != DType::kInt32) return std::nullopt;
    bias = old.constant->as<int32_t>();
  }
  if (bias.size() != sums.size()) return std::nullopt;
  for (size_t c = 0; c < sums.size(); ++c) {
    const int64_t folded = bias[c] - x.type.zero_point() * sums[c];
    if (folded != static_cast<int32_t>(folded)) return std::nullopt;
    bias[c] = static_cast<int32_t>(folded);
  }
  return bias;
}

}  // namespace

Graph fold_zero_points(Graph graph) {
  int64_t num_bytes = 0;
  for (Node& node : graph.nodes) {
    bool* flag = flag_of(node);
    if (!flag || *flag) continue;
    const std::optional<std::vector<int32_t>> bias = folded_bias(graph, node);
    if (!bias) continue;
    // Many nodes can share one filter, but each has a bias of its own.
    num_bytes += std::ssize(*bias) * size_in_bytes(DType::kInt32);
    if (num_bytes > kMostBytes) break;
    *flag = true;
    Value value;
    value.name = graph[node.outputs.at(0)].name + "/bias_with_zero_point";
    value.type = {DType::kInt32, {static_cast<int64_t>(bias->size())}, std::nullopt};
    if (node.inputs.size() > 2 && node.inputs[2].present()) {
      value.type = graph[node.inputs[2]].type;
    }
    value.constant = Bytes::of(*bias);
    node.inputs.resize(3);
    node.inputs[2] = graph.add(std::move(value));
  }
  return graph;
}

}  // namespace ingot
