// SPDX-License-Identifier: Apache-2.0
// The one fusion: an elementwise operator becomes a step of the store that produces its input.
#include <algorithm>
#include <optional>

#include "passes/passes.h"

namespace ingot {
namespace {

size_t index_of(ValueId id) { return static_cast<size_t>(id.index); }

// Operators that give bytes another name or move them in bulk have no store to carry steps.
// Each step may bring a parameter. C99 promises functions of 127, cores pass four in registers.
constexpr size_t kMostSteps = 16;

bool can_carry_steps(const Node& node) {
  return node.outputs.size() == 1 && !node.as<Reshape>() && !node.as<Concat>() &&
         !node.as<Copy>() && !node.as<Pad>() && !node.as<Slice>() && !node.as<Transpose>() &&
         !node.as<ResizeNearest>();
}

class Fuser {
 public:
  explicit Fuser(Graph graph) : graph_(std::move(graph)), uses_(uses_of(graph_)) {
    // By value, the position of the node that writes it, as nodes absorb others.
    for (size_t v = 0; v < graph_.values.size(); ++v) {
      producer_.push_back(uses_.producer[v].index);
    }
  }

  Graph run() {
    std::vector<bool> absorbed(graph_.nodes.size(), false);
    for (size_t n = 0; n < graph_.nodes.size(); ++n) absorbed[n] = absorb(n);
    std::vector<Node> kept;
    for (size_t n = 0; n < graph_.nodes.size(); ++n) {
      if (!absorbed[n]) kept.push_back(std::move(graph_.nodes[n]));
    }
    graph_.nodes = std::move(kept);
    return std::move(graph_);
  }

 private:
  // Makes node n a step of one of its inputs' producers, the latest that can take it.
  bool absorb(size_t n) {
    const Node& node = graph_.nodes[n];
    if (!rules_of(node.op).element || !node.epilogue.empty() || node.outputs.size() != 1)
      return false;
    std::optional<size_t> best;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (!can_chain(node, i)) continue;
      if (!best || producer_of(node.inputs[*best]) < producer_of(node.inputs[i])) best = i;
    }
    if (!best) return false;
    append_step(node, *best);
    return true;
  }

  int32_t producer_of(ValueId id) const { return producer_[index_of(id)]; }

  bool can_chain(const Node& node, size_t position) const {
    const ValueId input = node.inputs[position];
    if (!input.present() || producer_of(input) < 0 || uses_.num_uses(input) != 1) return false;
    const TensorType& result = graph_[node.outputs[0]].type;
    if (graph_[input].type.shape != result.shape) return false;
    const Node& producer = graph_.nodes[static_cast<size_t>(producer_of(input))];
    if (!can_carry_steps(producer) || producer.epilogue.size() >= kMostSteps) return false;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (i != position && !is_fit_operand(node.inputs[i], result, producer_of(input)))
        return false;
    }
    return true;
  }

  // A constant, an input, or computed before the producer runs; one element or the result's shape.
  bool is_fit_operand(ValueId id, const TensorType& result, int32_t producer) const {
    if (!id.present()) return false;
    const TensorType& type = graph_[id].type;
    const bool shape_fits = type.num_elements() == 1 || type.shape == result.shape;
    return shape_fits && producer_of(id) < producer;
  }

  void append_step(const Node& node, size_t position) {
    const ValueId input = node.inputs[position];
    Node& producer = graph_.nodes[static_cast<size_t>(producer_of(input))];
    Step step{node.op, {}, static_cast<int64_t>(position), graph_[node.outputs[0]].type};
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (i != position) step.operands.push_back(node.inputs[i]);
    }
    if (producer.epilogue.empty()) producer.produced = graph_[input].type;
    if (!merge_clamp(producer, step)) producer.epilogue.push_back(std::move(step));
    producer.outputs[0] = node.outputs[0];
    producer_[index_of(node.outputs[0])] = producer_of(input);
    add_sources(producer.sources, node.sources);
  }

  // Thousands of clamps can become one, mostly in the order of the file.
  static void add_sources(std::vector<int64_t>& sources, const std::vector<int64_t>& more) {
    const bool is_behind = sources.empty() || more.empty() || sources.back() < more.front();
    sources.insert(sources.end(), more.begin(), more.end());
    if (is_behind) return;
    std::ranges::sort(sources);
    sources.erase(std::unique(sources.begin(), sources.end()), sources.end());
  }

  // clamp(clamp(x, a, b), c, d) -> clamp(x, max(a, c), min(b, d)) where the ranges meet.
  static bool merge_clamp(Node& producer, const Step& step) {
    const auto* outer = std::get_if<Clamp>(&step.op);
    if (!outer || producer.epilogue.empty()) return false;
    auto* inner = std::get_if<Clamp>(&producer.epilogue.back().op);
    if (!inner) return false;
    const Clamp merged{std::max(inner->low, outer->low), std::min(inner->high, outer->high)};
    if (!(merged.low <= merged.high)) return false;
    *inner = merged;
    return true;
  }

  Graph graph_;
  Uses uses_;
  std::vector<int32_t> producer_;
};

}  // namespace

Graph fuse_epilogues(Graph graph) { return Fuser(std::move(graph)).run(); }

}  // namespace ingot
