// SPDX-License-Identifier: Apache-2.0
#include "storage/storage.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>

#include "storage/order.h"
#include "support/check.h"

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

}  // namespace

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
  storage.problem.overlaps = find_overlaps(program, reversed, storage.problem, storage.buffers,
                                           overwritable_buffers(program, options.reuse_inputs));
  storage.program = std::move(program);
  return storage;
}

namespace {

Storage place_in_order(loop::Program program, ReversedKernels reversed,
                       const StorageOptions& options) {
  Storage storage = make_problem(std::move(program), reversed, options);
  CHECK(plan::find_fault(storage.problem).empty());
  storage.plan = plan::solve(storage.problem, options.limits);
  unify_directions(storage.program, storage.problem, storage.plan);
  const std::string violation = plan::find_violation(storage.problem, storage.plan);
  if (!violation.empty()) throw InternalError("the plan is wrong: " + violation);
  storage.program = with_directions(std::move(storage.program), reversed, storage.plan.directions);
  for (size_t i = 0; i < storage.buffers.size(); ++i) {
    loop::Buffer& buffer = storage.program.buffers[storage.buffers[i]];
    buffer.offset_bytes = storage.plan.offsets.at(i);
    storage.arena_alignment = std::max(storage.arena_alignment, buffer.alignment);
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
  if (other.arena_bytes >= given.arena_bytes) return given;
  other.arena_bytes_in_given_order = given.arena_bytes;
  return other;
}

}  // namespace ingot
