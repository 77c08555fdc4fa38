// SPDX-License-Identifier: Apache-2.0
#include "report/order.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace ingot {
namespace {

// Per call: the buffers that it reads and writes, by name.
struct Touched {
  std::set<std::string> read;
  std::set<std::string> written;
};

Touched touched_by(const std::map<std::string, const loop::Kernel*>& kernels,
                   const loop::CallKernel& call) {
  Touched touched;
  const loop::Kernel& kernel = *kernels.at(call.kernel);
  for (size_t i = 0; i < call.args.size() && i < kernel.params.size(); ++i) {
    const loop::Access access = kernel.params[i].access;
    if (access != loop::Access::kWrite) touched.read.insert(call.args[i].buffer);
    if (access != loop::Access::kRead) touched.written.insert(call.args[i].buffer);
  }
  return touched;
}

// The calls of a runner without loops and branches; empty for other runners.
std::vector<Touched> calls_of(const loop::Program& program) {
  std::map<std::string, const loop::Kernel*> kernels;
  for (const loop::Kernel& kernel : program.kernels) kernels[kernel.name] = &kernel;
  std::vector<Touched> calls;
  for (const loop::Stmt& stmt : program.runner) {
    if (std::holds_alternative<loop::Comment>(stmt.kind)) continue;
    const auto* call = std::get_if<loop::CallKernel>(&stmt.kind);
    if (call == nullptr) return {};
    calls.push_back(touched_by(kernels, *call));
  }
  return calls;
}

bool is_chain(const std::vector<Touched>& calls) {
  for (size_t i = 1; i < calls.size(); ++i) {
    const bool needs_previous = std::ranges::any_of(
        calls[i - 1].written, [&](const auto& name) { return calls[i].read.contains(name); });
    if (!needs_previous) return false;
  }
  return !calls.empty();
}

}  // namespace

int64_t bound_of_any_order(const loop::Program& program, const ArenaFacts& arena) {
  std::map<std::string, const plan::Buffer*> buffers;
  for (size_t b = 0; b < arena.buffers.size(); ++b) {
    buffers[program.buffers.at(arena.buffers[b]).name] = &arena.problem.buffers.at(b);
  }
  const auto bytes_of = [&](const std::set<std::string>& names) {
    int64_t bytes = 0;
    std::map<int64_t, int64_t> largest_of_group;
    for (const std::string& name : names) {
      const auto found = buffers.find(name);
      if (found == buffers.end()) continue;
      const plan::Buffer& buffer = *found->second;
      if (buffer.group < 0) {
        bytes += buffer.size_bytes;
      } else {
        int64_t& largest = largest_of_group[buffer.group];
        largest = std::max(largest, buffer.size_bytes);
      }
    }
    for (const auto& [group, largest] : largest_of_group) bytes += largest;
    return bytes;
  };
  int64_t bound = 0;
  for (const Touched& call : calls_of(program)) {
    bound = std::max({bound, bytes_of(call.read), bytes_of(call.written)});
  }
  return bound;
}

bool is_order_optimal(const loop::Program& program, const ArenaFacts& arena) {
  // What a call needs may lie in other pools.
  const bool has_pools = arena.plan.pools.size() > 1;
  const int64_t bound =
      has_pools ? 0 : std::max(bound_of_any_order(program, arena), arena.order_bound_bytes);
  if (arena.bytes <= bound) return true;
  const bool is_packed = has_pools ? arena.plan.pools[0].optimal : arena.plan.optimal;
  return is_packed && is_chain(calls_of(program));
}

}  // namespace ingot
