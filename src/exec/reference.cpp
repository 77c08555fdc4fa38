// SPDX-License-Identifier: Apache-2.0
#include "exec/reference.h"

#include <algorithm>

#include "ops/evaluate.h"
#include "plan/plan.h"
#include "support/check.h"

namespace ingot {
namespace {

constexpr int64_t kAlignment = 16;

// The values that nodes write, each alive from its node to its last reader.
struct ArenaProblem {
  plan::Problem problem;
  std::vector<ValueId> values;  // by buffer of the problem
};

ArenaProblem make_problem(const Graph& graph) {
  ArenaProblem arena;
  const Uses uses = uses_of(graph);
  const auto num_nodes = static_cast<int64_t>(graph.nodes.size());
  for (size_t v = 0; v < graph.values.size(); ++v) {
    const ValueId id{static_cast<int32_t>(v)};
    const NodeId producer = uses.producer_of(id);
    if (!producer.present()) continue;
    plan::Buffer buffer;
    buffer.name = graph[id].name;
    buffer.lifetime = {producer.index, producer.index + 1};
    for (const NodeId reader : uses.readers_of(id)) {
      buffer.lifetime.end = std::max<int64_t>(buffer.lifetime.end, reader.index + 1);
    }
    if (uses.num_outputs.at(v) > 0) buffer.lifetime.end = num_nodes;
    buffer.size_bytes = graph[id].type.size_bytes();
    buffer.alignment = kAlignment;
    arena.problem.buffers.push_back(std::move(buffer));
    arena.values.push_back(id);
  }
  return arena;
}

// Where the bytes of a value are while a graph is executed.
class Memory {
 public:
  Memory(const Graph& graph, std::span<const TensorBytes> inputs) {
    places_.resize(graph.values.size());
    CHECK(inputs.size() == graph.inputs.size());
    for (size_t i = 0; i < inputs.size(); ++i) {
      CHECK(static_cast<int64_t>(inputs[i].size()) == graph[graph.inputs[i]].type.size_bytes());
      places_.at(index(graph.inputs[i])) = inputs[i];
    }
    for (size_t v = 0; v < graph.values.size(); ++v) {
      if (graph.values[v].is_constant()) places_[v] = graph.values[v].constant->view();
    }
  }

  void place(ValueId id, std::span<const uint8_t> bytes) { places_.at(index(id)) = bytes; }
  std::span<const uint8_t> bytes_of(ValueId id) const { return places_.at(index(id)); }
  TensorBytes copy_of(ValueId id) const {
    const std::span<const uint8_t> bytes = bytes_of(id);
    return {bytes.begin(), bytes.end()};
  }

 private:
  static size_t index(ValueId id) { return static_cast<size_t>(id.index); }

  std::vector<std::span<const uint8_t>> places_;
};

void evaluate_node(const Graph& graph, const Node& node, Memory& memory,
                   std::span<const std::span<uint8_t>> outputs, Rounding rounding) {
  evaluate(
      graph, node, [&](ValueId id) { return memory.bytes_of(id); }, outputs, rounding);
  for (size_t i = 0; i < outputs.size(); ++i) memory.place(node.outputs[i], outputs[i]);
}

}  // namespace

ReferenceExecutor::ReferenceExecutor(const Graph& graph, Rounding rounding)
    : graph_(graph), rounding_(rounding), offsets_(graph.values.size(), -1) {
  const ArenaProblem arena = make_problem(graph);
  CHECK(plan::find_fault(arena.problem).empty());
  const plan::Plan plan = plan::solve(arena.problem, {.search_nodes = 0, .climb_steps = 0});
  const std::string violation = plan::find_violation(arena.problem, plan);
  if (!violation.empty()) throw InternalError("the plan is wrong: " + violation);
  for (size_t b = 0; b < arena.values.size(); ++b) {
    offsets_.at(static_cast<size_t>(arena.values[b].index)) = plan.offsets.at(b);
  }
  arena_bytes_ = plan.pools.at(0).height_bytes;
}

std::vector<TensorBytes> ReferenceExecutor::run(std::span<const TensorBytes> inputs) const {
  Memory memory(graph_, inputs);
  std::vector<uint8_t> arena(static_cast<size_t>(arena_bytes_));
  for (const Node& node : graph_.nodes) {
    std::vector<std::span<uint8_t>> outputs;
    for (const ValueId id : node.outputs) {
      const int64_t offset = offsets_.at(static_cast<size_t>(id.index));
      outputs.push_back(std::span(arena).subspan(
          static_cast<size_t>(offset), static_cast<size_t>(graph_[id].type.size_bytes())));
    }
    evaluate_node(graph_, node, memory, outputs, rounding_);
  }
  std::vector<TensorBytes> results;
  for (const ValueId id : graph_.outputs) results.push_back(memory.copy_of(id));
  return results;
}

std::vector<TensorBytes> ReferenceExecutor::run_all(std::span<const TensorBytes> inputs) const {
  Memory memory(graph_, inputs);
  std::vector<TensorBytes> values(graph_.values.size());
  for (const Node& node : graph_.nodes) {
    std::vector<std::span<uint8_t>> outputs;
    for (const ValueId id : node.outputs) {
      TensorBytes& bytes = values.at(static_cast<size_t>(id.index));
      bytes.resize(static_cast<size_t>(graph_[id].type.size_bytes()));
      outputs.emplace_back(bytes);
    }
    evaluate_node(graph_, node, memory, outputs, rounding_);
  }
  for (size_t v = 0; v < values.size(); ++v) {
    const ValueId id{static_cast<int32_t>(v)};
    if (values[v].empty()) values[v] = memory.copy_of(id);
  }
  return values;
}

}  // namespace ingot
