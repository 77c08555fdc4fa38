// SPDX-License-Identifier: Apache-2.0
#include "tests/legacy/token_planner.h"

#include <algorithm>
#include <map>

namespace ingot::legacy {
namespace {

constexpr int64_t kMatchRange = 16;

size_t index_of(ValueId id) { return static_cast<size_t>(id.index); }

class TokenPlanner {
 public:
  explicit TokenPlanner(const Graph& graph) : graph_(graph) {
    plan_.token_of.assign(graph.values.size(), -1);
  }

  TokenPlan run() {
    count_uses();
    for (const ValueId id : graph_.inputs) set_token(id, new_token(id));
    for (size_t v = 0; v < graph_.values.size(); ++v) {
      const ValueId id{static_cast<int32_t>(v)};
      if (graph_[id].is_constant()) set_token(id, new_token(id));
    }
    const int64_t num_fixed = static_cast<int64_t>(plan_.token_bytes.size());
    for (const Node& node : graph_.nodes) {
      if (node.as<Reshape>()) continue;  // it is its input
      for (const ValueId id : node.outputs) set_token(id, request(id));
      for (const ValueId id : node.outputs) free_if_unused(id);
      for (const ValueId id : node.inputs) {
        if (!id.present()) continue;
        --num_uses_[index_of(origin(id))];
        if (token(id) >= num_fixed) free_if_unused(id);
      }
    }
    for (size_t v = 0; v < graph_.values.size(); ++v) {
      plan_.token_of[v] = token({static_cast<int32_t>(v)});
    }
    bind_outputs(num_fixed);
    return std::move(plan_);
  }

 private:
  // The first pass: who shares a prototype token, and how often it is read.
  void count_uses() {
    for (size_t v = 0; v < graph_.values.size(); ++v) {
      origin_.push_back({static_cast<int32_t>(v)});
    }
    num_uses_.assign(graph_.values.size(), 0);
    for (const Node& node : graph_.nodes) {
      if (node.as<Reshape>()) {
        origin_[index_of(node.outputs.at(0))] = origin(node.inputs.at(0));
        continue;
      }
      for (const ValueId id : node.inputs) {
        if (id.present()) ++num_uses_[index_of(origin(id))];
      }
    }
    for (const ValueId id : graph_.outputs) ++num_uses_[index_of(origin(id))];
  }

  ValueId origin(ValueId id) const { return origin_[index_of(id)]; }
  int64_t token(ValueId id) const { return plan_.token_of[index_of(origin(id))]; }
  void set_token(ValueId id, int64_t token) { plan_.token_of[index_of(origin(id))] = token; }

  int64_t new_token(ValueId id) {
    plan_.token_bytes.push_back(graph_[id].type.size_bytes());
    return static_cast<int64_t>(plan_.token_bytes.size()) - 1;
  }

  int64_t request(ValueId id) {
    const int64_t size = graph_[id].type.size_bytes();
    auto found = free_.lower_bound(size);
    if (found == free_.end() || found->first > size * kMatchRange) {
      // The free tokens that are too small stand before it, the largest last.
      if (found == free_.begin() || std::prev(found)->first < size / kMatchRange) {
        return new_token(id);
      }
      --found;
    }
    const int64_t token = found->second;
    free_.erase(found);
    int64_t& bytes = plan_.token_bytes[static_cast<size_t>(token)];
    bytes = std::max(bytes, size);
    return token;
  }

  void free_if_unused(ValueId id) {
    if (num_uses_[index_of(origin(id))] > 0) return;
    free_.emplace(plan_.token_bytes[static_cast<size_t>(token(id))], token(id));
  }

  // Inputs and constants that are outputs were copied to the caller, so only the others are bound.
  void bind_outputs(int64_t num_fixed) {
    std::set<int64_t> bound;
    for (const ValueId id : graph_.outputs) {
      OutputUse use;
      use.is_written = bound.insert(token(id)).second;
      if (use.is_written && token(id) >= num_fixed) {
        const TensorType& type = graph_[id].type;
        use.overrun_bytes = plan_.token_bytes[static_cast<size_t>(token(id))] - type.size_bytes();
        for (size_t v = 0; v < graph_.values.size(); ++v) {
          const DType other = graph_.values[v].type.dtype;
          if (plan_.token_of[v] == token(id) && other != type.dtype) use.other_dtypes.insert(other);
        }
      }
      plan_.outputs.push_back(std::move(use));
    }
  }

  const Graph& graph_;
  TokenPlan plan_;
  std::vector<ValueId> origin_;           // by value: what it is a reshape of, or itself
  std::vector<int64_t> num_uses_;         // of origins; what is left of them
  std::multimap<int64_t, int64_t> free_;  // tokens by bytes
};

}  // namespace

TokenPlan plan_tokens(const Graph& graph) { return TokenPlanner(graph).run(); }

}  // namespace ingot::legacy
