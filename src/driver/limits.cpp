// SPDX-License-Identifier: Apache-2.0
#include "driver/limits.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/metadata.h"

namespace ingot {
namespace {

// What is known of the need of pool `p`, and what is alive at its peak.
std::vector<std::string> notes_of(const Storage& storage, size_t p, int64_t limit_bytes) {
  const plan::PoolPlan& pool = storage.plan.pools.at(p);
  // What else could lie in the pool is not in the proof.
  const char* what = storage.pools.empty() ? "this program" : "the buffers in it";
  std::vector<std::string> notes;
  notes.push_back(pool.lower_bound_bytes > limit_bytes
                      ? fmt::format("proved: no plan of {} needs less than {} bytes", what,
                                    pool.lower_bound_bytes)
                      : fmt::format("this is the best plan found; the proved bound is {} bytes",
                                    pool.lower_bound_bytes));
  const std::string step =
      static_cast<size_t>(pool.witness_time) < storage.program.notes.size()
          ? " (" + quote(storage.program.notes[static_cast<size_t>(pool.witness_time)].name) + ")"
          : "";
  notes.push_back(fmt::format("alive together at step {}{}:", pool.witness_time, step));
  for (const int64_t b : pool.witness) {
    const loop::Buffer& buffer =
        storage.program.buffers.at(storage.buffers.at(static_cast<size_t>(b)));
    notes.push_back(fmt::format(
        "  {:>10} bytes  {}", buffer.size_bytes(),
        buffer.tensor.empty() ? "scratch " + quote(buffer.name) : quote(buffer.tensor)));
  }
  return notes;
}

}  // namespace

Diagnostics check_pools(const Storage& storage) {
  Diagnostics faults;
  for (size_t p = 1; p < storage.plan.pools.size(); ++p) {
    const plan::Pool& pool = storage.problem.pools.at(p);
    const int64_t height = storage.plan.pools[p].height_bytes;
    if (!pool.capacity_bytes || height <= *pool.capacity_bytes) continue;
    Diagnostic excess{Code::kArenaLimit, "",
                      fmt::format("what --place puts into the pool {} needs {} bytes, it has {}",
                                  quote(pool.name), height, *pool.capacity_bytes),
                      "a larger pool, or one --place less"};
    excess.notes = notes_of(storage, p, *pool.capacity_bytes);
    faults.push_back(std::move(excess));
  }
  return faults;
}

Diagnostics check_arena_limit(const Compiled& compiled, int64_t limit_bytes) {
  const Storage& storage = compiled.storage;
  if (storage.arena_bytes <= limit_bytes) return {};
  Diagnostic excess{
      Code::kArenaLimit, "",
      fmt::format("the arena needs {} bytes, the limit is {}", storage.arena_bytes, limit_bytes),
      storage.pools.empty()
          ? "a model with a smaller input or fewer channels needs less; --reuse-inputs, "
            "--scratch-in-outputs and --pool may take a part of it"
          : "larger pools take more of it; a model with a smaller input or fewer channels needs "
            "less"};
  excess.notes = notes_of(storage, 0, limit_bytes);
  return {excess};
}

Diagnostics check_flash_limit(const Compiled& compiled, int64_t limit_bytes) {
  constexpr size_t kMostNamed = 5;
  const loop::Program& program = compiled.storage.program;
  const int64_t bytes = weights_bytes(program);
  if (bytes <= limit_bytes) return {};
  Diagnostic excess{Code::kFlashLimit, "",
                    fmt::format("constants need {} bytes, the limit is {}", bytes, limit_bytes),
                    "--optimize size needs the fewest; smaller limits than a model needs take a "
                    "model with fewer channels"};
  std::vector<const loop::Buffer*> constants;
  for (const loop::Buffer& buffer : program.buffers) {
    if (buffer.kind == loop::BufferKind::kConstant) constants.push_back(&buffer);
  }
  std::ranges::stable_sort(constants, [](const loop::Buffer* a, const loop::Buffer* b) {
    return a->size_bytes() > b->size_bytes();
  });
  constants.resize(std::min(constants.size(), kMostNamed));
  excess.notes.emplace_back("the largest:");
  for (const loop::Buffer* buffer : constants) {
    excess.notes.push_back(fmt::format("  {:>10} bytes  {}{}", buffer->size_bytes(), buffer->name,
                                       buffer->tensor.empty() ? "" : " " + quote(buffer->tensor)));
  }
  return {excess};
}

Diagnostics check_addresses(const Storage& storage, const Target& target) {
  // Half of what can be addressed, as differences of addresses need a sign.
  constexpr int64_t kLargestObject = (int64_t{1} << 31) - 1;
  if (target.features.has_long_addresses) return {};
  Diagnostics faults;
  const auto check = [&](const std::string& what, int64_t bytes) {
    if (bytes <= kLargestObject) return;
    faults.push_back({Code::kArenaLimit, "",
                      fmt::format("{} needs {} bytes; with the 32-bit addresses of {}, C has no "
                                  "object of more than {}",
                                  what, bytes, target.name, kLargestObject),
                      "a model with a smaller input or fewer channels needs less"});
  };
  check("the arena", storage.arena_bytes);
  for (const PoolUse& pool : storage.pools) check("the pool " + quote(pool.name), pool.bytes);
  return faults;
}

}  // namespace ingot
