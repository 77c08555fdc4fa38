// SPDX-License-Identifier: Apache-2.0
#include "driver/limits.h"

#include <fmt/format.h>

namespace ingot {

Diagnostics check_arena_limit(const Compiled& compiled, int64_t limit_bytes) {
  const Storage& storage = compiled.storage;
  if (storage.arena_bytes <= limit_bytes) return {};
  const plan::PoolPlan& pool = storage.plan.pools.at(0);
  const bool proved = pool.lower_bound_bytes > limit_bytes;
  Diagnostic excess{
      Code::kArenaLimit, "",
      fmt::format("the arena needs {} bytes, the limit is {}", storage.arena_bytes, limit_bytes),
      "a model with a smaller input or fewer channels needs less; with --io arena, so does "
      "--reuse-inputs"};
  excess.notes.push_back(
      proved ? fmt::format("proved: no plan of this program needs less than {} bytes",
                           pool.lower_bound_bytes)
             : fmt::format("this is the best plan found; the proved bound is {} bytes",
                           pool.lower_bound_bytes));
  const std::string step =
      static_cast<size_t>(pool.witness_time) < storage.program.notes.size()
          ? " (" + quote(storage.program.notes[static_cast<size_t>(pool.witness_time)].name) + ")"
          : "";
  excess.notes.push_back(fmt::format("alive together at step {}{}:", pool.witness_time, step));
  for (const int64_t b : pool.witness) {
    const loop::Buffer& buffer =
        storage.program.buffers.at(storage.buffers.at(static_cast<size_t>(b)));
    excess.notes.push_back(fmt::format(
        "  {:>10} bytes  {}", buffer.size_bytes(),
        buffer.tensor.empty() ? "scratch " + quote(buffer.name) : quote(buffer.tensor)));
  }
  return {excess};
}

}  // namespace ingot
