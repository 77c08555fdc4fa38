// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "passes/passes.h"

namespace ingot {
namespace {

// The padding that `node` adds, if a convolution can take it over: height and width of an NHWC
// tensor, filled with what stands for 0.
const Pad* spatial_padding(const Graph& graph, const Node& node) {
  const Pad* pad = node.as<Pad>();
  if (!pad || !node.epilogue.empty()) return nullptr;
  const TensorType& type = graph[node.inputs.at(0)].type;
  const TensorType& padded = graph[node.outputs.at(0)].type;
  if (type.rank() != 4 || type.quantization != padded.quantization) return nullptr;
  if (pad->before[0] != 0 || pad->after[0] != 0 || pad->before[3] != 0 || pad->after[3] != 0) {
    return nullptr;
  }
  if (type.is_quantized() && !type.quantization->per_tensor()) return nullptr;
  const double zero = type.is_quantized() ? static_cast<double>(type.zero_point()) : 0;
  return pad->value == zero ? pad : nullptr;
}

Padding* padding_of_convolution(Node& node) {
  if (auto* conv = node.as<Conv2D>()) return conv->zero_point_in_bias ? nullptr : &conv->padding;
  if (auto* depthwise = node.as<DepthwiseConv2D>()) {
    return depthwise->zero_point_in_bias ? nullptr : &depthwise->padding;
  }
  return nullptr;
}

}  // namespace

Graph fold_padding(Graph graph) {
  const Uses uses = uses_of(graph);
  for (Node& node : graph.nodes) {
    Padding* padding = padding_of_convolution(node);
    if (!padding) continue;
    const ValueId padded = node.inputs.at(0);
    const NodeId producer = uses.producer_of(padded);
    if (!producer.present() || uses.num_uses(padded) != 1) continue;
    const Node& pad_node = graph.nodes.at(static_cast<size_t>(producer.index));
    const Pad* pad = spatial_padding(graph, pad_node);
    if (!pad) continue;
    padding->top += pad->before[1];
    padding->bottom += pad->after[1];
    padding->left += pad->before[2];
    padding->right += pad->after[2];
    node.inputs[0] = pad_node.inputs[0];
    node.sources.insert(node.sources.begin(), pad_node.sources.begin(), pad_node.sources.end());
    std::ranges::sort(node.sources);
  }
  return graph;
}

}  // namespace ingot
