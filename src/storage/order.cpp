// SPDX-License-Identifier: Apache-2.0
#include "storage/order.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "plan/order.h"

namespace ingot {
namespace {

// What an input of `x` bytes and an output of `y` save if the one dies as the other is written: the
// bytes of both, less those that they need together at the distances of `overlap`.
int64_t saved_bytes(const plan::Overlap& overlap, int64_t x, int64_t y) {
  int64_t together = x + y;
  if (overlap.forward) {
    together = std::min(together, std::max({x, y, *overlap.forward + x}));
  }
  if (overlap.reverse) {
    together = std::min(together, std::max({x, y, *overlap.reverse + y}));
  }
  return x + y - together;
}

// A whole of thousands of pieces that thousands of calls read is too much to look for orders of.
constexpr int64_t kMostTouched = int64_t{1} << 18;

// The calls as steps of plan/order.h, whose buffers are those of the program by index. Of a tied
// group only the members that calls write count; who reads a whole reads them, and who reads a part
// of one reads all of it, which is more than needed.
class StepBuilder {
 public:
  StepBuilder(const loop::Program& program, const plan::Problem& problem,
              std::span<const size_t> buffers)
      : program_(program), problem_(problem) {
    for (size_t b = 0; b < program.buffers.size(); ++b) index_[program.buffers[b].name] = b;
    for (const loop::Kernel& kernel : program.kernels) kernels_[kernel.name] = &kernel;
    for (size_t b = 0; b < buffers.size(); ++b) planned_[buffers[b]] = b;
    result_.buffer_bytes.resize(program.buffers.size(), 0);
    result_.kept.resize(program.buffers.size(), false);
  }

  // Nothing if the runner is not such a sequence, or too wide.
  std::optional<plan::OrderProblem> build(const std::vector<bool>& may_be_overwritten) {
    for (const loop::Stmt& stmt : program_.runner) {
      const auto* call = std::get_if<loop::CallKernel>(&stmt.kind);
      if (call == nullptr) return std::nullopt;
      calls_.push_back(call);
    }
    if (calls_.size() != program_.notes.size() || !find_writers() || !find_leaves()) {
      return std::nullopt;
    }
    for (const auto& [b, planned] : planned_) {
      const plan::Buffer& buffer = problem_.buffers[planned];
      if (buffer.group < 0 || is_leaf(b)) result_.buffer_bytes[b] = buffer.size_bytes;
      const loop::BufferKind kind = program_.buffers[b].kind;
      result_.kept[b] = kind == loop::BufferKind::kOutput ||
                        (kind == loop::BufferKind::kInput && !may_be_overwritten[b]);
    }
    int64_t touched = 0;
    for (const loop::CallKernel* call : calls_) {
      result_.steps.push_back(step_of(*call));
      touched += std::ssize(result_.steps.back().inputs) + std::ssize(result_.steps.back().outputs);
      if (touched > kMostTouched) return std::nullopt;
    }
    return std::move(result_);
  }

  // Whether some call reads a part of what another one writes.
  bool reads_parts() const { return reads_parts_; }

 private:
  template <class F>
  void for_each_arg(const loop::CallKernel& call, const F& f) const {
    const loop::Kernel& kernel = *kernels_.at(call.kernel);
    for (size_t p = 0; p < call.args.size(); ++p) {
      const size_t b = index_.at(call.args[p].buffer);
      if (program_.buffers[b].kind != loop::BufferKind::kConstant) f(b, kernel.params[p].access);
    }
  }

  // A buffer is written by one call, or it is a caller's output that none reads; a call that reads
  // what it writes has it to itself.
  bool find_writers() {
    std::set<size_t> written_twice;
    std::set<size_t> read;
    std::set<size_t> updated;
    for (size_t c = 0; c < calls_.size(); ++c) {
      for_each_arg(*calls_[c], [&](size_t b, loop::Access access) {
        if (access != loop::Access::kWrite) read.insert(b);
        if (access == loop::Access::kReadWrite) updated.insert(b);
        if (access == loop::Access::kRead) return;
        const auto [writer, is_new] = writer_.try_emplace(b, c);
        if (!is_new && writer->second != c) written_twice.insert(b);
      });
    }
    for (const size_t b : written_twice) {
      if (planned_.contains(b) || read.contains(b)) return false;
      writer_.erase(b);
    }
    for (const size_t b : updated) {
      if (program_.buffers[b].kind != loop::BufferKind::kArena) return false;
    }
    return true;
  }

  bool is_leaf(size_t b) const { return writer_.contains(b); }

  // Leaves of one group share no byte.
  bool find_leaves() {
    for (const auto& [b, planned] : planned_) {
      const plan::Buffer& buffer = problem_.buffers[planned];
      if (buffer.group < 0 || !is_leaf(b)) continue;
      for (const size_t other : leaves_[buffer.group]) {
        if (meets(problem_.buffers[planned_.at(other)], buffer)) return false;
      }
      leaves_[buffer.group].push_back(b);
    }
    return true;
  }

  static bool meets(const plan::Buffer& a, const plan::Buffer& b) {
    return a.group_offset < b.group_offset + b.size_bytes &&
           b.group_offset < a.group_offset + a.size_bytes;
  }

  void read(size_t b, std::set<int64_t>& inputs) {
    const auto planned = planned_.find(b);
    const int64_t group = planned == planned_.end() ? -1 : problem_.buffers[planned->second].group;
    if (group < 0 || is_leaf(b)) {
      inputs.insert(static_cast<int64_t>(b));
      return;
    }
    const auto leaves = leaves_.find(group);
    if (leaves == leaves_.end()) return;
    const plan::Buffer& whole = problem_.buffers[planned->second];
    for (const size_t leaf : leaves->second) {
      const plan::Buffer& part = problem_.buffers[planned_.at(leaf)];
      if (!meets(part, whole)) continue;
      inputs.insert(static_cast<int64_t>(leaf));
      reads_parts_ = reads_parts_ || part.group_offset < whole.group_offset ||
                     part.group_offset + part.size_bytes > whole.group_offset + whole.size_bytes;
    }
  }

  plan::Step step_of(const loop::CallKernel& call) {
    std::set<int64_t> inputs;
    std::set<int64_t> outputs;
    for_each_arg(call, [&](size_t b, loop::Access access) {
      if (access != loop::Access::kRead && is_leaf(b)) outputs.insert(static_cast<int64_t>(b));
      if (access == loop::Access::kRead) read(b, inputs);
    });
    plan::Step step;
    for (const int64_t b : inputs) {
      if (!outputs.contains(b)) step.inputs.push_back(b);
    }
    step.outputs.assign(outputs.begin(), outputs.end());
    return step;
  }

  const loop::Program& program_;
  const plan::Problem& problem_;
  std::map<std::string, size_t> index_;
  std::map<std::string, const loop::Kernel*> kernels_;
  std::map<size_t, size_t> planned_;  // of a buffer of the program: its index in the problem
  std::vector<const loop::CallKernel*> calls_;
  std::map<size_t, size_t> writer_;  // the call that writes a buffer
  std::map<int64_t, std::vector<size_t>> leaves_;
  bool reads_parts_ = false;
  plan::OrderProblem result_;
};

void add_savings(plan::OrderProblem& steps, std::span<const plan::Overlap> overlaps,
                 std::span<const size_t> buffers) {
  for (const plan::Overlap& overlap : overlaps) {
    plan::Step& step = steps.steps.at(static_cast<size_t>(overlap.step));
    const size_t input = buffers[static_cast<size_t>(overlap.input)];
    const size_t output = buffers[static_cast<size_t>(overlap.output)];
    const int64_t saved =
        saved_bytes(overlap, steps.buffer_bytes[input], steps.buffer_bytes[output]);
    const bool is_input = std::ranges::count(step.inputs, static_cast<int64_t>(input)) > 0;
    if (saved > 0 && is_input) step.in_place.push_back({static_cast<int64_t>(input), saved});
  }
}

}  // namespace

BetterOrder in_better_order(const loop::Program& program, ReversedKernels reversed,
                            const plan::Problem& problem, std::span<const size_t> buffers,
                            const std::vector<bool>& may_be_overwritten) {
  StepBuilder builder(program, problem, buffers);
  std::optional<plan::OrderProblem> steps = builder.build(may_be_overwritten);
  if (!steps) return {};
  add_savings(*steps,
              find_possible_overlaps(program, reversed, problem, buffers, may_be_overwritten),
              buffers);
  std::vector<int64_t> given;
  for (size_t s = 0; s < steps->steps.size(); ++s) given.push_back(static_cast<int64_t>(s));
  // Enough for graphs of networks; wider ones get a good order instead of the best.
  constexpr int64_t kStates = 20'000;
  const plan::StepOrder best = plan::least_peak_order(*steps, kStates);
  // A kernel that cannot run in reverse saves less, for reasons that only the compiler knows: no
  // claim rests on that.
  const bool all_turn = std::ranges::all_of(program.kernels, [&](const loop::Kernel& kernel) {
    const auto k = static_cast<size_t>(&kernel - program.kernels.data());
    return k < reversed.size() && reversed[k].has_value();
  });
  const bool is_exact = all_turn && !builder.reads_parts();
  BetterOrder result{.program = {}, .lower_bound_bytes = is_exact ? best.lower_bound_bytes : 0};
  if (best.peak_bytes >= plan::peak_of(*steps, given)) return result;
  loop::Program ordered = program;
  for (size_t at = 0; at < best.order.size(); ++at) {
    ordered.runner[at] = program.runner.at(static_cast<size_t>(best.order[at]));
    ordered.notes[at] = program.notes.at(static_cast<size_t>(best.order[at]));
  }
  result.program = std::move(ordered);
  return result;
}

}  // namespace ingot
