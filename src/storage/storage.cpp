// SPDX-License-Identifier: Apache-2.0
#include "storage/storage.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>

#include "storage/order.h"
#include "support/check.h"
#include "support/limit_error.h"

namespace ingot {
namespace {

// For each buffer, the time points at which calls touch it.
class Lifetimes {
 public:
  explicit Lifetimes(const loop::Program& program) {
    for (size_t b = 0; b < program.buffers.size(); ++b) index_[program.buffers[b].name] = b;
    touched_.resize(program.buffers.size());
    walk(program.runner);
  }

  int64_t num_steps() const { return time_; }
  // Half-open; empty (0, 0) if no call touches the buffer.
  plan::Interval of(size_t buffer) const { return touched_.at(buffer); }

 private:
  void touch(const std::string& name, plan::Interval when) {
    plan::Interval& life = touched_.at(index_.at(name));
    if (life.begin == life.end) {
      life = when;
    } else {
      life = {std::min(life.begin, when.begin), std::max(life.end, when.end)};
    }
  }

  // What is touched inside a loop is alive for the whole loop.
  void walk(const loop::Block& block) {
    for (const loop::Stmt& stmt : block) {
      if (const auto* call = std::get_if<loop::CallKernel>(&stmt.kind)) {
        for (const loop::BufferRef& arg : call->args) touch(arg.buffer, {time_, time_ + 1});
        ++time_;
      } else if (const auto* loop_stmt = std::get_if<loop::For>(&stmt.kind)) {
        const int64_t begin = time_;
        walk(loop_stmt->body);
        stretch(loop_stmt->body, {begin, time_});
      } else if (const auto* branch = std::get_if<loop::If>(&stmt.kind)) {
        walk(branch->then_body);
        walk(branch->else_body);
      }
    }
  }

  void stretch(const loop::Block& block, plan::Interval when) {
    for (const loop::Stmt& stmt : block) {
      if (const auto* call = std::get_if<loop::CallKernel>(&stmt.kind)) {
        for (const loop::BufferRef& arg : call->args) touch(arg.buffer, when);
      } else if (const auto* loop_stmt = std::get_if<loop::For>(&stmt.kind)) {
        stretch(loop_stmt->body, when);
      } else if (const auto* branch = std::get_if<loop::If>(&stmt.kind)) {
        stretch(branch->then_body, when);
        stretch(branch->else_body, when);
      }
    }
  }

  std::map<std::string, size_t> index_;
  std::vector<plan::Interval> touched_;
  int64_t time_ = 0;
};

bool is_in_arena(const loop::Buffer& b, const StorageOptions& options) {
  switch (b.kind) {
    case loop::BufferKind::kArena:
      return true;
    case loop::BufferKind::kInput:
    case loop::BufferKind::kOutput:
      return options.io_in_arena;
    case loop::BufferKind::kConstant:
      return false;
  }
  return false;
}

plan::Interval lifetime_of(const loop::Buffer& b, plan::Interval touched, int64_t num_steps,
                           const StorageOptions& options) {
  const int64_t end = std::max<int64_t>(num_steps, 1);
  if (b.kind == loop::BufferKind::kOutput) {
    return {touched.begin == touched.end ? 0 : touched.begin, end};
  }
  if (b.kind == loop::BufferKind::kInput) {
    return {0, options.reuse_inputs ? std::max<int64_t>(touched.end, 1) : end};
  }
  return touched;
}

// The bytes of a piece are the bytes of the whole, so a piece lives as long as what contains it.
// Two of one size and place contain each other: the one that lives longer comes first. What no call
// touches holds nothing by itself.
void stretch_pieces(std::vector<plan::Buffer>& buffers) {
  std::map<int64_t, std::vector<size_t>> groups;
  for (size_t b = 0; b < buffers.size(); ++b) {
    const plan::Interval life = buffers[b].lifetime;
    if (buffers[b].group >= 0 && life.begin < life.end) groups[buffers[b].group].push_back(b);
  }
  for (auto& [group, members] : groups) {
    std::ranges::stable_sort(members, std::ranges::greater{}, [&](size_t b) {
      return std::tuple(buffers[b].size_bytes, buffers[b].group_offset, buffers[b].lifetime.end);
    });
    for (size_t i = 1; i < members.size(); ++i) {
      plan::Buffer& piece = buffers[members[i]];
      const plan::Buffer& previous = buffers[members[i - 1]];
      if (previous.size_bytes == piece.size_bytes && previous.group_offset == piece.group_offset) {
        piece.lifetime.end = std::max(piece.lifetime.end, previous.lifetime.end);
      }
      for (size_t j = 0; j < i && buffers[members[j]].size_bytes > piece.size_bytes; ++j) {
        const plan::Buffer& whole = buffers[members[j]];
        const bool contains =
            whole.group_offset <= piece.group_offset &&
            piece.group_offset + piece.size_bytes <= whole.group_offset + whole.size_bytes;
        if (contains) piece.lifetime.end = std::max(piece.lifetime.end, whole.lifetime.end);
      }
    }
  }
}

std::vector<bool> overwritable_buffers(const loop::Program& program, bool reuse_inputs) {
  std::vector<bool> overwritable;
  for (const loop::Buffer& b : program.buffers) {
    overwritable.push_back(b.kind == loop::BufferKind::kArena ||
                           (b.kind == loop::BufferKind::kInput && reuse_inputs));
  }
  return overwritable;
}

int64_t pool_of_name(const StorageOptions& options, const std::string& name) {
  if (name == "arena") return 0;
  for (size_t p = 0; p < options.pools.size(); ++p) {
    if (options.pools[p].name == name) return static_cast<int64_t>(p) + 1;
  }
  return -1;
}

// The pool that a buffer must lie in, if there is a choice at all.
std::optional<int64_t> pinned_pool(const loop::Buffer& b, const StorageOptions& options) {
  if (b.kind != loop::BufferKind::kArena) return 0;
  const auto place = options.places.find(b.tensor);
  if (b.tensor.empty() || place == options.places.end()) return std::nullopt;
  return pool_of_name(options, place->second);
}

// Where each buffer of the problem may lie: the pools as given, then the arena; pinned ones in one,
// and with them all that are tied to them.
void add_pools(const loop::Program& program, const StorageOptions& options, Storage& storage) {
  if (options.pools.empty()) return;
  std::vector<int64_t> wish;
  for (const PoolOption& pool : options.pools) {
    storage.problem.pools.push_back({pool.name, pool.capacity_bytes});
    wish.push_back(static_cast<int64_t>(storage.problem.pools.size()) - 1);
  }
  wish.push_back(0);
  std::map<int64_t, int64_t> pin_of_group;
  for (size_t i = 0; i < storage.buffers.size(); ++i) {
    plan::Buffer& buffer = storage.problem.buffers[i];
    buffer.pools = wish;
    const std::optional<int64_t> pin = pinned_pool(program.buffers[storage.buffers[i]], options);
    if (!pin) continue;
    buffer.pools = {*pin};
    if (buffer.group >= 0) pin_of_group.emplace(buffer.group, *pin);
  }
  for (plan::Buffer& buffer : storage.problem.buffers) {
    const auto pin = pin_of_group.find(buffer.group);
    if (pin != pin_of_group.end()) buffer.pools = {pin->second};
  }
}

}  // namespace

Diagnostics find_fault_of_places(const loop::Program& program, const StorageOptions& options) {
  Diagnostics faults;
  const auto fault = [&](std::string what, std::string hint) {
    faults.push_back({Code::kUsage, "", std::move(what), std::move(hint)});
  };
  std::map<int64_t, int64_t> pool_of_group;
  std::set<std::string> found;
  std::set<int64_t> faulty_groups;
  for (const loop::Buffer& b : program.buffers) {
    if (!is_in_arena(b, options) || options.pools.empty()) continue;
    const bool is_named = b.kind == loop::BufferKind::kArena && options.places.contains(b.tensor);
    if (is_named) found.insert(b.tensor);
    const std::optional<int64_t> pin = pinned_pool(b, options);
    if (!pin || b.tie_group < 0) continue;
    const int64_t first = pool_of_group.emplace(b.tie_group, *pin).first->second;
    if (first != *pin && faulty_groups.insert(b.tie_group).second) {
      fault("--place puts " + quote(b.tensor) + " apart from what it is a part of",
            "tensors that are parts of one another lie in one pool");
    }
  }
  for (const auto& [tensor, pool] : options.places) {
    if (pool_of_name(options, pool) < 0) {
      fault("--place " + quote(tensor) + " names the pool " + quote(pool) +
                ", which no --pool defines",
            "pools are defined as --pool NAME:BYTES; arena is there always");
    } else if (!options.pools.empty() && !found.contains(tensor)) {
      fault("--place names the tensor " + quote(tensor) + ", which no inner buffer holds",
            "inputs, outputs and constants have their place, and what is computed and used inside "
            "one step has none; `ingot inspect --plan` lists the buffers");
    }
  }
  return faults;
}

Storage make_problem(loop::Program program, ReversedKernels reversed,
                     const StorageOptions& options) {
  Storage storage;
  const Lifetimes lifetimes(program);
  storage.num_steps = lifetimes.num_steps();
  for (size_t b = 0; b < program.buffers.size(); ++b) {
    const loop::Buffer& buffer = program.buffers[b];
    if (!is_in_arena(buffer, options)) continue;
    plan::Buffer allocation;
    allocation.name = buffer.name;
    allocation.lifetime = lifetime_of(buffer, lifetimes.of(b), storage.num_steps, options);
    allocation.size_bytes = buffer.size_bytes();
    allocation.alignment = buffer.alignment;
    allocation.group = buffer.tie_group;
    allocation.group_offset = buffer.tie_offset_bytes;
    storage.problem.buffers.push_back(std::move(allocation));
    storage.buffers.push_back(b);
  }
  stretch_pieces(storage.problem.buffers);
  add_pools(program, options, storage);
  storage.problem.overlaps = find_overlaps(program, reversed, storage.problem, storage.buffers,
                                           overwritable_buffers(program, options.reuse_inputs));
  storage.program = std::move(program);
  return storage;
}

namespace {

// The planner looks at every two buffers that are alive together: as many as 5,792 that all are.
constexpr int64_t kMostPairs = int64_t{1} << 24;

int64_t num_pairs(const std::vector<plan::Buffer>& buffers) {
  std::vector<int64_t> begins;
  std::vector<int64_t> ends;
  for (const plan::Buffer& buffer : buffers) {
    begins.push_back(buffer.lifetime.begin);
    ends.push_back(buffer.lifetime.end);
  }
  std::ranges::sort(begins);
  std::ranges::sort(ends);
  // For each that ends, those that have begun by then and not ended before.
  int64_t pairs = 0;
  for (size_t i = 0; i < ends.size(); ++i) {
    const int64_t begun = std::ranges::lower_bound(begins, ends[i]) - begins.begin();
    pairs += std::max<int64_t>(begun - static_cast<int64_t>(i) - 1, 0);
  }
  return pairs;
}

Storage place_in_order(loop::Program program, ReversedKernels reversed,
                       const StorageOptions& options) {
  Storage storage = make_problem(std::move(program), reversed, options);
  CHECK(plan::find_fault(storage.problem).empty());
  if (num_pairs(storage.problem.buffers) > kMostPairs) {
    throw LimitError("more than " + std::to_string(kMostPairs) +
                     " pairs of tensors are alive together, which is the most");
  }
  storage.plan = plan::solve(storage.problem, options.limits);
  unify_directions(storage.program, storage.problem, storage.plan);
  const std::string violation = plan::find_violation(storage.problem, storage.plan);
  if (!violation.empty()) throw InternalError("the plan is wrong: " + violation);
  storage.program = with_directions(std::move(storage.program), reversed, storage.plan.directions);
  for (size_t p = 0; p < options.pools.size(); ++p) {
    storage.pools.push_back({options.pools[p].name, storage.plan.pools.at(p + 1).height_bytes});
  }
  for (size_t i = 0; i < storage.buffers.size(); ++i) {
    loop::Buffer& buffer = storage.program.buffers[storage.buffers[i]];
    buffer.offset_bytes = storage.plan.offsets.at(i);
    const int64_t pool = storage.plan.pool_of.at(i);
    int64_t* alignment = &storage.arena_alignment;
    if (pool > 0) {
      PoolUse& use = storage.pools.at(static_cast<size_t>(pool) - 1);
      buffer.pool = use.name;
      alignment = &use.alignment;
    }
    *alignment = std::max(*alignment, buffer.alignment);
  }
  storage.arena_bytes = storage.plan.pools.at(0).height_bytes;
  return storage;
}

}  // namespace

Storage place(loop::Program program, ReversedKernels reversed, const StorageOptions& options) {
  Storage given = place_in_order(program, reversed, options);
  given.arena_bytes_in_given_order = given.arena_bytes;
  std::optional<loop::Program> ordered =
      in_better_order(program, reversed, given.problem, given.buffers,
                      overwritable_buffers(program, options.reuse_inputs));
  if (!ordered) return given;
  Storage other = place_in_order(*std::move(ordered), reversed, options);
  const auto need = [](const Storage& storage) {
    int64_t pool_bytes = 0;
    for (const PoolUse& pool : storage.pools) pool_bytes += pool.bytes;
    return std::tuple(!storage.plan.fits, storage.arena_bytes, pool_bytes);
  };
  if (need(other) >= need(given)) return given;
  other.arena_bytes_in_given_order = given.arena_bytes;
  return other;
}

}  // namespace ingot
