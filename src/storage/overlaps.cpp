// SPDX-License-Identifier: Apache-2.0
#include "storage/overlaps.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "loop/memory.h"
#include "loop/overlap.h"

namespace ingot {
namespace {

// Calls `f` for each call of `block` in textual order; `free` is false inside loops and branches.
template <class Block, class F>
void for_each_call(Block& block, bool free, const F& f) {
  for (auto& stmt : block) {
    if (auto* call = std::get_if<loop::CallKernel>(&stmt.kind)) {
      f(*call, free);
    } else if (auto* loop = std::get_if<loop::For>(&stmt.kind)) {
      for_each_call(loop->body, false, f);
    } else if (auto* branch = std::get_if<loop::If>(&stmt.kind)) {
      for_each_call(branch->then_body, false, f);
      for_each_call(branch->else_body, false, f);
    }
  }
}

std::map<std::string, size_t> kernel_indices(const loop::Program& program) {
  std::map<std::string, size_t> indices;
  for (size_t k = 0; k < program.kernels.size(); ++k) indices[program.kernels[k].name] = k;
  return indices;
}

// The more demanding of the distances a and b + shift; absent: not at all.
std::optional<int64_t> greater(std::optional<int64_t> a, std::optional<int64_t> b, int64_t shift) {
  if (!a || !b) return std::nullopt;
  return std::max(*a, *b + shift);
}

class Finder {
 public:
  Finder(const loop::Program& program, ReversedKernels reversed, const plan::Problem& problem,
         std::span<const size_t> buffers, const std::vector<bool>& may_be_overwritten,
         bool in_any_order)
      : program_(program),
        reversed_(reversed),
        problem_(problem),
        buffers_(buffers),
        may_be_overwritten_(may_be_overwritten),
        in_any_order_(in_any_order),
        kernels_(kernel_indices(program)) {
    for (size_t b = 0; b < buffers.size(); ++b) {
      planned_[program.buffers[buffers[b]].name] = b;
      if (problem.buffers[b].group >= 0) groups_[problem.buffers[b].group].push_back(b);
    }
  }

  std::vector<plan::Overlap> run() {
    int64_t step = 0;
    for_each_call(program_.runner, true, [&](const loop::CallKernel& call, bool free) {
      if (free) visit(call, step);
      ++step;
    });
    std::erase_if(overlaps_, [](const plan::Overlap& o) { return !o.forward && !o.reverse; });
    return std::move(overlaps_);
  }

 private:
  // How a step touches a planned buffer: the parameters that are bound to it.
  struct Use {
    size_t buffer = 0;
    std::vector<size_t> params;
    bool reads = false;
    bool writes = false;
  };

  void visit(const loop::CallKernel& call, int64_t step) {
    const size_t k = kernels_.at(call.kernel);
    const loop::Kernel& kernel = program_.kernels[k];
    std::vector<Use> uses;
    for (size_t p = 0; p < call.args.size(); ++p) {
      const auto planned = planned_.find(call.args[p].buffer);
      if (planned == planned_.end()) continue;
      auto use = std::ranges::find(uses, planned->second, &Use::buffer);
      if (use == uses.end()) use = uses.insert(use, Use{.buffer = planned->second, .params = {}});
      use->params.push_back(p);
      use->reads = use->reads || kernel.params[p].access != loop::Access::kWrite;
      use->writes = use->writes || kernel.params[p].access != loop::Access::kRead;
    }
    for (const Use& output : uses) {
      if (!output.writes || output.reads || !starts_in(output.buffer, step)) continue;
      for (const Use& input : uses) {
        if (!input.writes && ends_in(input.buffer, step)) add_pair(call, k, output, input, step);
      }
    }
  }

  bool starts_in(size_t buffer, int64_t step) const {
    return in_any_order_ || problem_.buffers[buffer].lifetime.begin == step;
  }
  bool ends_in(size_t buffer, int64_t step) const {
    return may_be_overwritten_[buffers_[buffer]] &&
           (in_any_order_ || problem_.buffers[buffer].lifetime.end == step + 1);
  }

  void add_pair(const loop::CallKernel& call, size_t kernel, const Use& output, const Use& input,
                int64_t step) {
    const plan::Buffer& x = problem_.buffers[input.buffer];
    const plan::Buffer& y = problem_.buffers[output.buffer];
    const DType x_type = program_.buffers[buffers_[input.buffer]].dtype;
    const DType y_type = program_.buffers[buffers_[output.buffer]].dtype;
    if (x_type != y_type && !loop::is_of_bytes(x_type) && !loop::is_of_bytes(y_type)) return;
    if (x.group >= 0 && x.group == y.group) return;
    std::optional<int64_t> forward = -x.size_bytes;
    std::optional<int64_t> reverse = -y.size_bytes;
    for (const size_t o : output.params) {
      for (const size_t i : input.params) {
        // From the parameters' starts to the buffers'.
        const int64_t shift = offset_of(call, kernel, o) - offset_of(call, kernel, i);
        forward = greater(forward, distance(kernel, o, i, loop::Side::kBefore), shift);
        reverse = greater(reverse, distance(kernel, o, i, loop::Side::kBehind), -shift);
      }
    }
    if (forward && *forward >= y.size_bytes) forward.reset();
    if (reverse && *reverse >= x.size_bytes) reverse.reset();
    add(output.buffer, input.buffer, step, forward, reverse, 0);
    if (x.group < 0) return;
    // The parts of a whole are its bytes: what may happen to it may happen to them.
    for (const size_t part : groups_.at(x.group)) {
      const plan::Buffer& p = problem_.buffers[part];
      const int64_t behind = p.group_offset - x.group_offset;
      const bool is_inside = behind >= 0 && behind + p.size_bytes <= x.size_bytes;
      if (part == input.buffer || !is_inside || !ends_in(part, step)) continue;
      add(output.buffer, part, step, forward, reverse, behind);
    }
  }

  // The distances of `output` to an input, given for what lies `behind` bytes before that. A pair
  // that has several (a whole is read, and a part of it too) keeps to all of them.
  void add(size_t output, size_t input, int64_t step, std::optional<int64_t> forward,
           std::optional<int64_t> reverse, int64_t behind) {
    const auto [place, is_new] = place_of_pair_.try_emplace({output, input}, overlaps_.size());
    if (is_new) {
      overlaps_.push_back({.output = static_cast<int64_t>(output),
                           .input = static_cast<int64_t>(input),
                           .step = step,
                           .forward = -problem_.buffers[input].size_bytes,
                           .reverse = -problem_.buffers[output].size_bytes});
    }
    plan::Overlap& overlap = overlaps_[place->second];
    overlap.forward = greater(overlap.forward, forward, behind);
    overlap.reverse = greater(overlap.reverse, reverse, -behind);
  }

  int64_t offset_of(const loop::CallKernel& call, size_t kernel, size_t param) const {
    return call.args[param].offset_elements *
           size_in_bytes(program_.kernels[kernel].params[param].dtype);
  }

  std::optional<int64_t> distance(size_t kernel, size_t output, size_t input, loop::Side side) {
    const auto key = std::tuple(kernel, output, input, side);
    const auto known = distances_.find(key);
    if (known != distances_.end()) return known->second;
    const loop::Kernel& forward = program_.kernels[kernel];
    const loop::Kernel* runs = &forward;
    if (side == loop::Side::kBehind) {
      const bool is_reversible = kernel < reversed_.size() && reversed_[kernel];
      runs = is_reversible ? &*reversed_[kernel] : nullptr;
    }
    std::optional<int64_t> result;
    if (runs != nullptr) {
      result = loop::least_distance(*runs, forward.params[output].name, forward.params[input].name,
                                    side);
    }
    return distances_[key] = result;
  }

  const loop::Program& program_;
  ReversedKernels reversed_;
  const plan::Problem& problem_;
  std::span<const size_t> buffers_;
  const std::vector<bool>& may_be_overwritten_;
  const bool in_any_order_;
  std::map<std::string, size_t> kernels_;
  std::map<std::string, size_t> planned_;
  std::map<int64_t, std::vector<size_t>> groups_;
  std::map<std::tuple<size_t, size_t, size_t, loop::Side>, std::optional<int64_t>> distances_;
  std::map<std::pair<size_t, size_t>, size_t> place_of_pair_;  // output, input: in overlaps_
  std::vector<plan::Overlap> overlaps_;
};

}  // namespace

std::vector<plan::Overlap> find_overlaps(const loop::Program& program, ReversedKernels reversed,
                                         const plan::Problem& problem,
                                         std::span<const size_t> buffers,
                                         const std::vector<bool>& may_be_overwritten) {
  return Finder(program, reversed, problem, buffers, may_be_overwritten, false).run();
}

std::vector<plan::Overlap> find_possible_overlaps(const loop::Program& program,
                                                  ReversedKernels reversed,
                                                  const plan::Problem& problem,
                                                  std::span<const size_t> buffers,
                                                  const std::vector<bool>& may_be_overwritten) {
  return Finder(program, reversed, problem, buffers, may_be_overwritten, true).run();
}

void unify_directions(const loop::Program& program, const plan::Problem& problem,
                      plan::Plan& plan) {
  // Which steps could not run in one direction or the other where everything now lies.
  std::set<int64_t> not_forward;
  std::set<int64_t> not_reverse;
  for (const plan::Overlap& o : problem.overlaps) {
    const auto output = static_cast<size_t>(o.output);
    const auto input = static_cast<size_t>(o.input);
    const int64_t behind = plan.offsets.at(input) - plan.offsets.at(output);
    const bool apart = plan.pool_of.at(input) != plan.pool_of.at(output) ||
                       behind >= problem.buffers[output].size_bytes ||
                       -behind >= problem.buffers[input].size_bytes;
    if (apart) continue;
    if (!o.forward || behind < *o.forward) not_forward.insert(o.step);
    if (!o.reverse || -behind < *o.reverse) not_reverse.insert(o.step);
  }
  std::map<std::string, std::vector<int64_t>> steps_of;
  int64_t step = 0;
  for_each_call(program.runner, true, [&](const loop::CallKernel& call, bool) {
    steps_of[call.kernel].push_back(step++);
  });
  std::map<int64_t, plan::Direction> direction_of;
  for (const auto& kernel_and_steps : steps_of) {
    const std::vector<int64_t>& steps = kernel_and_steps.second;
    const auto all_can = [&](const std::set<int64_t>& cannot) {
      return std::ranges::none_of(steps, [&](int64_t s) { return cannot.contains(s); });
    };
    const bool reverse = !all_can(not_forward) && all_can(not_reverse);
    for (const int64_t s : steps) {
      const bool runs_reverse = reverse || not_forward.contains(s);
      direction_of[s] = runs_reverse ? plan::Direction::kReverse : plan::Direction::kForward;
    }
  }
  for (plan::StepDirection& d : plan.directions) d.direction = direction_of.at(d.step);
}

loop::Program with_directions(loop::Program program, ReversedKernels reversed,
                              std::span<const plan::StepDirection> directions) {
  std::map<int64_t, plan::Direction> direction_of;
  for (const plan::StepDirection& d : directions) direction_of[d.step] = d.direction;
  const std::map<std::string, size_t> indices = kernel_indices(program);
  // The directions that each kernel is needed in. One that cannot run in reverse shares no byte
  // where it is to, and may as well run forward.
  std::set<size_t> needed_forward;
  std::set<size_t> needed_reverse;
  int64_t step = 0;
  for_each_call(program.runner, true, [&](const loop::CallKernel& call, bool) {
    const size_t k = indices.at(call.kernel);
    const auto direction = direction_of.find(step++);
    if (direction == direction_of.end()) return;
    const bool is_reversible = k < reversed.size() && reversed[k];
    const bool is_reverse = direction->second == plan::Direction::kReverse && is_reversible;
    (is_reverse ? needed_reverse : needed_forward).insert(k);
  });
  const auto name_of = [&](size_t k) {
    std::string name = program.kernels[k].name + "_reverse";
    while (indices.contains(name)) name += "_";
    return name;
  };
  step = 0;
  for_each_call(program.runner, true, [&](loop::CallKernel& call, bool) {
    const size_t k = indices.at(call.kernel);
    const auto direction = direction_of.find(step++);
    if (!needed_reverse.contains(k)) return;
    // A step without overlaps is right in either direction.
    const bool is_free = direction == direction_of.end();
    const bool is_reverse =
        is_free ? !needed_forward.contains(k) : direction->second == plan::Direction::kReverse;
    if (is_reverse) call.kernel = name_of(k);
  });
  std::vector<loop::Kernel> kernels;
  for (size_t k = 0; k < program.kernels.size(); ++k) {
    const bool is_reversed = needed_reverse.contains(k);
    if (!is_reversed || needed_forward.contains(k)) kernels.push_back(program.kernels[k]);
    if (!is_reversed) continue;
    kernels.push_back(*reversed[k]);
    kernels.back().name = name_of(k);
  }
  program.kernels = std::move(kernels);
  return program;
}

}  // namespace ingot
