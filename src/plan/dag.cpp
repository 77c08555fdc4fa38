// SPDX-License-Identifier: Apache-2.0
#include "plan/dag.h"

#include <numeric>
#include <set>

#include "support/check.h"

namespace ingot::plan {
namespace {

size_t index(int64_t i) { return static_cast<size_t>(i); }

}  // namespace

std::vector<int64_t> topological(const std::vector<std::vector<int64_t>>& before,
                                 const std::vector<std::vector<int64_t>>& after,
                                 std::vector<bool>& alone) {
  std::vector<int64_t> waits;
  std::set<int64_t> ready;
  for (size_t s = 0; s < before.size(); ++s) {
    waits.push_back(static_cast<int64_t>(before[s].size()));
    if (before[s].empty()) ready.insert(static_cast<int64_t>(s));
  }
  std::vector<int64_t> order;
  alone.assign(before.size(), false);
  while (!ready.empty()) {
    const int64_t step = *ready.begin();
    alone[index(step)] = ready.size() == 1;
    ready.erase(ready.begin());
    order.push_back(step);
    for (const int64_t next : after[index(step)])
      if (--waits[index(next)] == 0) ready.insert(next);
  }
  CHECK(order.size() == before.size());
  return order;
}

std::vector<std::vector<int64_t>> series_parts(const Dag& dag) {
  std::vector<bool> alone, alone_backwards;
  const std::vector<int64_t> order = topological(dag.before, dag.after, alone);
  const std::vector<int64_t> backwards = topological(dag.after, dag.before, alone_backwards);
  std::vector<size_t> position_backwards(order.size());
  for (size_t p = 0; p < order.size(); ++p) position_backwards[index(backwards[p])] = p;
  std::vector<std::vector<int64_t>> parts(1);
  for (size_t p = 0; p < order.size(); ++p) {
    const int64_t step = order[p];
    const bool cut = alone[index(step)] && alone_backwards[index(step)] &&
                     p + position_backwards[index(step)] + 1 == order.size();
    if (cut && !parts.back().empty()) parts.emplace_back();
    parts.back().push_back(step);
    if (cut) parts.emplace_back();
  }
  if (parts.back().empty()) parts.pop_back();
  return parts;
}

std::vector<std::vector<int64_t>> parallel_parts(const Dag& dag) {
  std::vector<int64_t> part(index(dag.size()), -1);
  std::vector<std::vector<int64_t>> parts;
  std::vector<int64_t> stack;
  for (int64_t first = 0; first < dag.size(); ++first) {
    if (part[index(first)] >= 0) continue;
    const auto number = static_cast<int64_t>(parts.size());
    parts.emplace_back();
    part[index(first)] = number;
    stack.push_back(first);
    while (!stack.empty()) {
      const int64_t node = stack.back();
      stack.pop_back();
      for (const auto* neighbours : {&dag.before[index(node)], &dag.after[index(node)]}) {
        for (const int64_t next : *neighbours) {
          if (part[index(next)] >= 0) continue;
          part[index(next)] = number;
          stack.push_back(next);
        }
      }
    }
  }
  for (int64_t node = 0; node < dag.size(); ++node) parts[index(part[index(node)])].push_back(node);
  return parts;
}

Dag induced(const Dag& dag, std::span<const int64_t> nodes, std::vector<int64_t>& scratch) {
  for (size_t k = 0; k < nodes.size(); ++k) scratch[index(nodes[k])] = static_cast<int64_t>(k);
  Dag result;
  result.before.resize(nodes.size());
  result.after.resize(nodes.size());
  for (size_t k = 0; k < nodes.size(); ++k) {
    for (const int64_t next : dag.after[index(nodes[k])]) {
      if (scratch[index(next)] < 0) continue;
      result.after[k].push_back(scratch[index(next)]);
      result.before[index(scratch[index(next)])].push_back(static_cast<int64_t>(k));
    }
  }
  for (const int64_t node : nodes) scratch[index(node)] = -1;
  return result;
}

}  // namespace ingot::plan
