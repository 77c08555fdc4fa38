// SPDX-License-Identifier: Apache-2.0
#include "storage/storage.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>

#include "loop/memory.h"
#include "plan/bound.h"
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

  int64_t num_steps() const { return std::ssize(calls_); }
  // In textual order: one per time point.
  const std::vector<const loop::CallKernel*>& calls() const { return calls_; }
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
        const int64_t now = num_steps();
        for (const loop::BufferRef& arg : call->args) touch(arg.buffer, {now, now + 1});
        calls_.push_back(call);
      } else if (const auto* loop_stmt = std::get_if<loop::For>(&stmt.kind)) {
        const int64_t begin = num_steps();
        walk(loop_stmt->body);
        stretch(loop_stmt->body, {begin, num_steps()});
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
  std::vector<const loop::CallKernel*> calls_;
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

// The bytes of a piece are the bytes of the whole, so a piece lives as long as what contains it:
// until the last call that reads the whole (of a concatenation in place), and from the first one
// that writes it (of slices). Two of one size and place contain each other: the one that lives
// longer comes first. What no call touches holds nothing by itself.
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
      plan::Buffer& previous = buffers[members[i - 1]];
      if (previous.size_bytes == piece.size_bytes && previous.group_offset == piece.group_offset) {
        piece.lifetime.end = std::max(piece.lifetime.end, previous.lifetime.end);
        piece.lifetime.begin = std::min(piece.lifetime.begin, previous.lifetime.begin);
        previous.lifetime.begin = piece.lifetime.begin;
      }
      for (size_t j = 0; j < i && buffers[members[j]].size_bytes > piece.size_bytes; ++j) {
        const plan::Buffer& whole = buffers[members[j]];
        const bool contains =
            whole.group_offset <= piece.group_offset &&
            piece.group_offset + piece.size_bytes <= whole.group_offset + whole.size_bytes;
        if (!contains) continue;
        piece.lifetime.begin = std::min(piece.lifetime.begin, whole.lifetime.begin);
        piece.lifetime.end = std::max(piece.lifetime.end, whole.lifetime.end);
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

// Makes a pool of each input and output that the caller lends; it lies there itself.
void lend_ports(const loop::Program& program, const Lifetimes& lifetimes,
                const StorageOptions& options, Storage& storage) {
  for (size_t b = 0; b < program.buffers.size(); ++b) {
    const loop::Buffer& port = program.buffers[b];
    const bool is_lent = (port.kind == loop::BufferKind::kInput && options.reuse_inputs) ||
                         (port.kind == loop::BufferKind::kOutput && options.scratch_in_outputs);
    if (!is_lent || port.num_elements == 0) continue;
    const auto pool = static_cast<int64_t>(storage.problem.pools.size());
    plan::Buffer allocation;
    allocation.name = port.name;
    allocation.lifetime = lifetime_of(port, lifetimes.of(b), storage.num_steps, options);
    allocation.size_bytes = port.size_bytes();
    allocation.alignment = port.alignment;
    allocation.fixed_offset = 0;
    allocation.pools = {pool};
    storage.problem.pools.push_back({port.name, port.size_bytes(), port.alignment});
    storage.problem.buffers.push_back(std::move(allocation));
    storage.buffers.push_back(b);
    storage.lenders.push_back(b);
  }
}

// By buffer of the program: what the calls ask of its address.
std::vector<int64_t> needed_alignments(const loop::Program& program, const Lifetimes& lifetimes) {
  std::map<std::string, const loop::Kernel*> kernels;
  for (const loop::Kernel& kernel : program.kernels) kernels[kernel.name] = &kernel;
  std::map<std::string, int64_t> needed;
  for (const loop::CallKernel* call : lifetimes.calls()) {
    for (size_t p = 0; p < call->args.size(); ++p) {
      int64_t& least = needed.try_emplace(call->args[p].buffer, 1).first->second;
      least = std::max(least, kernels.at(call->kernel)->params.at(p).alignment);
    }
  }
  std::vector<int64_t> alignments;
  for (const loop::Buffer& b : program.buffers) {
    const auto found = needed.find(b.name);
    const int64_t size = size_in_bytes(b.dtype);
    alignments.push_back(found == needed.end() ? size : std::max(size, found->second));
  }
  return alignments;
}

// Which lent pools a buffer of the problem may lie in.
class Borrowing {
 public:
  Borrowing(const loop::Program& program, const Lifetimes& lifetimes, const Storage& storage)
      : program_(program), storage_(storage), alignments_(needed_alignments(program, lifetimes)) {
    for (const plan::Overlap& overlap : storage.problem.overlaps)
      overlaps_.insert(std::minmax(overlap.output, overlap.input));
  }

  int64_t alignment(size_t b) const { return alignments_[storage_.buffers[b]]; }

  // Buffer `b` and the lent `lender`, both of the problem: it fits, C allows it, and one is gone
  // when the other comes, or gives way to it.
  bool may_lie_in(size_t b, size_t lender) const {
    const plan::Buffer& buffer = storage_.problem.buffers[b];
    const plan::Buffer& port = storage_.problem.buffers[lender];
    const DType dtype = program_.buffers[storage_.buffers[b]].dtype;
    const DType lent = program_.buffers[storage_.buffers[lender]].dtype;
    const bool gives_way =
        overlaps_.contains(std::minmax(static_cast<int64_t>(lender), static_cast<int64_t>(b)));
    return buffer.size_bytes <= port.size_bytes && (dtype == lent || loop::is_of_bytes(dtype)) &&
           alignment(b) <= size_in_bytes(lent) &&
           (gives_way || !buffer.lifetime.meets(port.lifetime));
  }

 private:
  const loop::Program& program_;
  const Storage& storage_;
  std::vector<int64_t> alignments_;
  std::set<std::pair<int64_t, int64_t>> overlaps_;
};

// Where each buffer of the problem may lie: the pools as given, what is lent, then the arena;
// pinned ones in one; what is tied, together.
void add_pools(const loop::Program& program, const Lifetimes& lifetimes,
               const StorageOptions& options, Storage& storage) {
  const size_t num_pools = options.pools.size();
  if (storage.problem.pools.size() == 1) return;
  const Borrowing borrowing(program, lifetimes, storage);
  const size_t num_inner = storage.buffers.size() - storage.lenders.size();
  std::map<int64_t, std::vector<int64_t>> of_group;
  for (size_t b = 0; b < num_inner; ++b) {
    plan::Buffer& buffer = storage.problem.buffers[b];
    std::vector<int64_t> wish;
    for (size_t p = 1; p <= num_pools; ++p) wish.push_back(static_cast<int64_t>(p));
    for (size_t o = 0; o < storage.lenders.size(); ++o) {
      if (borrowing.may_lie_in(b, num_inner + o))
        wish.push_back(static_cast<int64_t>(num_pools + 1 + o));
    }
    wish.push_back(0);
    if (const std::optional<int64_t> pin =
            pinned_pool(program.buffers[storage.buffers[b]], options))
      wish = {*pin};
    buffer.pools = wish;
    if (buffer.group < 0) continue;
    std::vector<int64_t>& common = of_group.try_emplace(buffer.group, wish).first->second;
    std::erase_if(common, [&](int64_t p) { return std::ranges::count(wish, p) == 0; });
  }
  for (size_t b = 0; b < num_inner; ++b) {
    plan::Buffer& buffer = storage.problem.buffers[b];
    if (buffer.group >= 0) buffer.pools = of_group.at(buffer.group);
    const bool may_borrow = std::ranges::any_of(
        buffer.pools, [&](int64_t p) { return p > static_cast<int64_t>(num_pools); });
    if (may_borrow) buffer.alignment = borrowing.alignment(b);
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
  for (const PoolOption& pool : options.pools)
    storage.problem.pools.push_back({pool.name, pool.capacity_bytes});
  if (!options.io_in_arena) lend_ports(program, lifetimes, options, storage);
  storage.problem.overlaps = find_overlaps(program, reversed, storage.problem, storage.buffers,
                                           overwritable_buffers(program, options.reuse_inputs));
  add_pools(program, lifetimes, options, storage);
  storage.program = std::move(program);
  return storage;
}

namespace {

// What the plan says of buffer `b` of the problem, into the program and the pools.
void set_place(size_t b, Storage& storage) {
  loop::Buffer& buffer = storage.program.buffers[storage.buffers[b]];
  buffer.offset_bytes = storage.plan.offsets.at(b);
  buffer.alignment = storage.problem.buffers[b].alignment;
  const auto pool = static_cast<size_t>(storage.plan.pool_of.at(b));
  if (pool > storage.pools.size()) {
    const size_t lender = storage.lenders.at(pool - storage.pools.size() - 1);
    buffer.pool = loop::memory_of_port(storage.program.buffers[lender].name);
    return;
  }
  int64_t* alignment = &storage.arena_alignment;
  if (pool > 0) {
    buffer.pool = storage.pools[pool - 1].name;
    alignment = &storage.pools[pool - 1].alignment;
  }
  *alignment = std::max(*alignment, buffer.alignment);
}

// A bound that the planner has searched for is stated with a log of that, or not at all. Where the
// planner has not closed the gap, the log's search may.
void prove_bound(Storage& storage) {
  plan::PoolPlan& arena = storage.plan.pools.at(0);
  if (!arena.searched && arena.optimal) return;
  constexpr int64_t kNodes = 20'000;
  std::vector<int64_t> inside;
  for (size_t b = 0; b < storage.problem.buffers.size(); ++b) {
    if (storage.plan.pool_of[b] == 0) inside.push_back(static_cast<int64_t>(b));
  }
  std::optional<std::vector<plan::Decision>> log =
      plan::refutation(storage.problem, inside, arena.height_bytes - 1, kNodes);
  if (log) {
    storage.refutation = *std::move(log);
    arena.lower_bound_bytes = arena.height_bytes;
    arena.searched = arena.optimal = true;
    storage.plan.optimal = storage.plan.optimal || storage.plan.pools.size() == 1;
    return;
  }
  if (!arena.searched) return;
  if (!arena.optimal) {
    log = plan::refutation(storage.problem, inside, arena.lower_bound_bytes - 1, kNodes);
  }
  if (log) {
    storage.refutation = *std::move(log);
    return;
  }
  arena.searched = false;
  arena.lower_bound_bytes =
      std::max(arena.load_bytes, plan::forced_height(storage.problem, inside));
  arena.optimal = arena.height_bytes == arena.lower_bound_bytes;
  storage.plan.optimal = storage.plan.optimal && arena.optimal;
}

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
  prove_bound(storage);
  unify_directions(storage.program, storage.problem, storage.plan);
  const std::string violation = plan::find_violation(storage.problem, storage.plan);
  if (!violation.empty()) throw InternalError("the plan is wrong: " + violation);
  storage.program = with_directions(std::move(storage.program), reversed, storage.plan.directions);
  for (size_t p = 0; p < options.pools.size(); ++p) {
    storage.pools.push_back({options.pools[p].name, storage.plan.pools.at(p + 1).height_bytes});
  }
  const size_t num_inner = storage.buffers.size() - storage.lenders.size();
  for (size_t i = 0; i < num_inner; ++i) set_place(i, storage);
  storage.arena_bytes = storage.plan.pools.at(0).height_bytes;
  return storage;
}

}  // namespace

Storage place(loop::Program program, ReversedKernels reversed, const StorageOptions& options) {
  Storage given = place_in_order(program, reversed, options);
  given.arena_bytes_in_given_order = given.arena_bytes;
  BetterOrder order = in_better_order(program, reversed, given.problem, given.buffers,
                                      overwritable_buffers(program, options.reuse_inputs));
  given.order_bound_bytes = order.lower_bound_bytes;
  if (!order.program) return given;
  Storage other = place_in_order(*std::move(order.program), reversed, options);
  other.order_bound_bytes = order.lower_bound_bytes;
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
