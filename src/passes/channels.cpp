// SPDX-License-Identifier: Apache-2.0
#include "passes/channels.h"

#include <algorithm>
#include <numeric>

#include "ops/hybrid.h"

namespace ingot {
namespace {

bool pads_channels(const Pad& pad) {
  return !pad.before.empty() && (pad.before.back() != 0 || pad.after.back() != 0);
}

bool reduces_channels(const Reduce& reduce, const TensorType& x) {
  return std::ranges::find(reduce.axes, x.rank() - 1) != reduce.axes.end();
}

bool is_along_channels(const Concat& concat, const TensorType& y) {
  return concat.axis + 1 == y.rank();
}

// Operators that read one tensor whose channels they treat apart.
bool has_one_input(const Op& op) {
  return !std::holds_alternative<Binary>(op) && !std::holds_alternative<Concat>(op) &&
         !std::holds_alternative<Conv2D>(op) && !std::holds_alternative<FullyConnected>(op);
}

}  // namespace

bool yields_any_channels(const Graph& graph, const Node& node) {
  if (node.outputs.size() != 1 || !node.epilogue.empty() || node.inputs.empty()) return false;
  if (is_weighted_sum(node.op)) {
    // The scale of a hybrid layer's input is taken from all channels together.
    if (is_hybrid(graph[node.inputs[0]].type, graph[node.inputs.at(1)].type)) return false;
    for (size_t i = 1; i < node.inputs.size(); ++i) {
      if (node.inputs[i].present() && !graph[node.inputs[i]].is_constant()) return false;
    }
  }
  if (graph[node.outputs[0]].type.rank() == 0) return false;
  if (has_one_input(node.op)) {
    return !graph[node.inputs[0]].is_constant() && tie_of(graph, node, 0) != Tie::kWhole;
  }
  const auto* conv = node.as<Conv2D>();
  return !conv || conv->groups == 1;
}

int64_t last_extent(const TensorType& type) { return type.shape.empty() ? 1 : type.shape.back(); }

Tie tie_of(const Graph& graph, const Node& node, size_t input) {
  const TensorType& x = graph[node.inputs.at(input)].type;
  const TensorType& y = graph[node.outputs[0]].type;
  if (const auto* conv = node.as<Conv2D>()) {
    return conv->groups == 1 ? Tie::kWeighted : Tie::kWhole;
  }
  if (node.as<FullyConnected>()) return Tie::kWeighted;
  if (x.rank() == 0) return Tie::kWhole;
  if (node.as<Softmax>() || node.as<Slice>() || node.as<Transpose>()) return Tie::kWhole;
  if (node.as<Binary>()) return last_extent(x) == last_extent(y) ? Tie::kTied : Tie::kWhole;
  if (const auto* reduce = node.as<Reduce>()) {
    return reduces_channels(*reduce, x) ? Tie::kWhole : Tie::kTied;
  }
  if (const auto* pad = node.as<Pad>()) return pads_channels(*pad) ? Tie::kWhole : Tie::kTied;
  return Tie::kTied;
}

Channels::Channels(const Graph& graph) {
  first_.push_back(0);
  for (const Value& value : graph.values) {
    first_.push_back(first_.back() + (value.is_constant() ? 0 : last_extent(value.type)));
  }
  parents_.resize(static_cast<size_t>(first_.back()));
  std::iota(parents_.begin(), parents_.end(), 0);
  for (const Node& node : graph.nodes) tie_node(graph, node);
  number_classes();
}

void Channels::tie_node(const Graph& graph, const Node& node) {
  if (!yields_any_channels(graph, node)) {
    for (const ValueId y : node.outputs) {
      tie_residues(y, 1);
      unite(slot(y, 0), slot(node.outputs[0], 0));
    }
    return;
  }
  int64_t offset = 0;  // of the input's channels among the output's
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const ValueId x = node.inputs[i];
    if (!x.present()) continue;
    if (!graph[x].is_constant()) tie_input(graph, node, i, offset);
    const auto* concat = node.as<Concat>();
    if (concat && is_along_channels(*concat, graph[node.outputs.at(0)].type)) {
      offset += last_extent(graph[x].type);
    }
  }
}

void Channels::tie_input(const Graph& graph, const Node& node, size_t input, int64_t offset) {
  const ValueId x = node.inputs[input];
  const Tie tie = tie_of(graph, node, input);
  if (tie == Tie::kWhole) return;
  if (tie == Tie::kWeighted) {
    // Columns of a fully connected layer go over the elements of x whatever its shape.
    if (node.as<FullyConnected>()) {
      const int64_t depth = graph[node.inputs.at(1)].type.shape.at(1);
      tie_residues(x, std::gcd(depth, count(x)));
    }
    return;
  }
  const ValueId y = node.outputs[0];
  if (node.as<Reshape>()) {
    const int64_t divisor = std::gcd(count(x), count(y));
    tie_residues(x, divisor);
    tie_residues(y, divisor);
    for (int64_t c = 0; c < divisor; ++c) unite(slot(x, c), slot(y, c));
  } else if (node.as<DepthwiseConv2D>()) {
    const int64_t multiplier = count(y) / count(x);
    for (int64_t c = 0; c < count(y); ++c) unite(slot(x, c / multiplier), slot(y, c));
  } else {
    for (int64_t c = 0; c < count(x); ++c) unite(slot(x, c), slot(y, offset + c));
  }
}

// Channels that are equal modulo `divisor`.
void Channels::tie_residues(ValueId id, int64_t divisor) {
  for (int64_t c = divisor; c < count(id); ++c) unite(slot(id, c), slot(id, c - divisor));
}

int64_t Channels::root(int64_t slot) {
  while (parents_[static_cast<size_t>(slot)] != slot) {
    int64_t& parent = parents_[static_cast<size_t>(slot)];
    parent = parents_[static_cast<size_t>(parent)];
    slot = parent;
  }
  return slot;
}

// The smaller slot becomes the root, so that classes do not depend on the order of ties.
void Channels::unite(int64_t a, int64_t b) {
  const int64_t root_a = root(a);
  const int64_t root_b = root(b);
  parents_[static_cast<size_t>(std::max(root_a, root_b))] = std::min(root_a, root_b);
}

void Channels::number_classes() {
  int64_t num_classes = 0;
  classes_.resize(parents_.size());
  for (size_t s = 0; s < parents_.size(); ++s) {
    const auto of = static_cast<size_t>(root(static_cast<int64_t>(s)));
    classes_[s] = of == s ? num_classes++ : classes_[of];
  }
  begins_.assign(static_cast<size_t>(num_classes) + 1, 0);
  for (const int64_t c : classes_) ++begins_[static_cast<size_t>(c) + 1];
  std::partial_sum(begins_.begin(), begins_.end(), begins_.begin());
  members_.resize(classes_.size());
  std::vector<int64_t> next(begins_.begin(), begins_.end() - 1);
  for (size_t s = 0; s < classes_.size(); ++s) {
    int64_t& at = next[static_cast<size_t>(classes_[s])];
    members_[static_cast<size_t>(at++)] = static_cast<int64_t>(s);
  }
}

std::span<const int64_t> Channels::members(int64_t class_index) const {
  const auto begin = static_cast<size_t>(begins_[static_cast<size_t>(class_index)]);
  const auto end = static_cast<size_t>(begins_[static_cast<size_t>(class_index) + 1]);
  return std::span(members_).subspan(begin, end - begin);
}

ValueId Channels::value_of(int64_t slot) const {
  const auto next = std::ranges::upper_bound(first_, slot);
  return {static_cast<int32_t>(next - first_.begin() - 1)};
}

}  // namespace ingot
