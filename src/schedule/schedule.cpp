// SPDX-License-Identifier: Apache-2.0
#include "schedule/schedule.h"

#include <algorithm>
#include <array>
#include <functional>
#include <string>
#include <utility>

#include "loop/dead.h"
#include "loop/rewrite.h"
#include "loop/simplify.h"
#include "loop/transform.h"
#include "schedule/choices.h"
#include "schedule/copies.h"
#include "schedule/dsp_depthwise.h"
#include "schedule/dsp_dot.h"
#include "schedule/dsp_reduction.h"
#include "schedule/expand.h"
#include "schedule/gathered_dot.h"
#include "schedule/narrow_multiply.h"
#include "schedule/packed_multiply.h"
#include "schedule/reschedule.h"
#include "schedule/saturation.h"
#include "schedule/scalar_block.h"
#include "schedule/vector_elements.h"
#include "schedule/vector_shapes.h"

namespace ingot {
namespace {

// Four sums and what they share fit the registers of a Cortex-M without spilling.
constexpr int64_t kJamFactor = 4;

// The loops over output channels, by the names that lowering gives them.
constexpr std::array<const char*, 2> kChannelLoops = {"oc", "c"};

loop::Kernel jammed(loop::Kernel kernel) {
  for (const char* variable : kChannelLoops) {
    std::optional<loop::Block> body = loop::unroll_and_jam(kernel.body, variable, kJamFactor);
    if (body) kernel.body = *std::move(body);
  }
  return kernel;
}

// For a kernel that no schedule of the target takes.
loop::Kernel simply_scheduled(loop::Kernel kernel, const Target& target) {
  kernel = jammed(std::move(kernel));
  if (target.features.has_dsp) {
    kernel.body = loop::simplify(with_words(kernel.body, target.features.has_mve));
  }
  return kernel;
}

bool stores_to_param(const loop::Kernel& kernel, const loop::Block& block) {
  bool stores = false;
  loop::for_each_stmt(block, [&](const loop::Stmt& s) {
    const auto* store = std::get_if<loop::Store>(&s.kind);
    stores = stores || (store && std::ranges::any_of(kernel.params, [&](const loop::Param& p) {
                          return p.name == store->buffer;
                        }));
  });
  return stores;
}

}  // namespace

std::optional<loop::Kernel> reverse(const loop::Kernel& kernel) {
  std::vector<std::string> variables;
  loop::for_each_stmt(kernel.body, [&](const loop::Stmt& s) {
    const auto* f = std::get_if<loop::For>(&s.kind);
    if (f && stores_to_param(kernel, f->body)) variables.push_back(f->variable);
  });
  // Each is looked at among all of the kernel's statements.
  constexpr size_t kMostReversed = 64;
  if (variables.empty() || variables.size() > kMostReversed) return std::nullopt;
  loop::Kernel reversed = kernel;
  for (const std::string& variable : variables) {
    std::optional<loop::Block> body = loop::reverse(reversed.body, variable);
    if (!body) return std::nullopt;
    reversed.body = *std::move(body);
  }
  return reversed;
}

namespace {

// A target's own schedules work out the place of every weight, which takes far more time and memory
// than the weights. No core has flash for more than these.
constexpr int64_t kMostWeights = int64_t{1} << 21;  // of one kernel
constexpr int64_t kMostWeightsOfAll = int64_t{1} << 24;

int64_t num_weights(const loop::Kernel& kernel) {
  int64_t count = 0;
  for (const loop::Param& param : kernel.params) {
    if (param.constant) count += param.num_elements;
  }
  return count;
}

using Rule = std::function<std::optional<Rescheduled>(const loop::Kernel&, bool reverse)>;

// The schedules that a target has, the preferred ones first.
std::vector<Rule> rules_of(const Target& target, const loop::Program& program) {
  std::vector<Rule> rules;
  if (const std::optional<DotShape> shape = dense_shape_of(target)) {
    rules.emplace_back([shape, &program](const loop::Kernel& kernel, bool reverse) {
      return schedule_vector_dot(program, kernel, reverse, *shape);
    });
  }
  if (const std::optional<DotShape> shape = dot_shape_of(target)) {
    rules.emplace_back([shape, &program](const loop::Kernel& kernel, bool reverse) {
      return schedule_gathered_dot(program, kernel, reverse, *shape);
    });
    rules.emplace_back([shape, &program](const loop::Kernel& kernel, bool reverse) {
      return schedule_vector_dot(program, kernel, reverse, *shape);
    });
  }
  if (std::optional<TermShape> shape = term_shape_of(target)) {
    // The more products go to 32 bits together, the better.
    for (; shape->narrow_taps > 0; --shape->narrow_taps) {
      rules.emplace_back([shape, &program](const loop::Kernel& kernel, bool reverse) {
        return schedule_vector_terms(program, kernel, reverse, *shape);
      });
    }
    rules.emplace_back([shape, &program](const loop::Kernel& kernel, bool reverse) {
      return schedule_vector_terms(program, kernel, reverse, *shape);
    });
  }
  if (target.features.has_dsp) {
    rules.emplace_back(schedule_dsp_dot);
    rules.emplace_back(schedule_dsp_depthwise);
    rules.emplace_back(schedule_dsp_reduction);
  }
  if (target.features.has_mve) {
    const std::optional<TermShape> shape = term_shape_of(target);
    rules.emplace_back([shape, &program](const loop::Kernel& kernel, bool reverse) {
      return schedule_vector_elements(program, kernel, reverse, *shape);
    });
  }
  if (target.packed) {
    const PackedShape shape = {target.packed->columns, target.packed->registers,
                               target.packed->unrolled};
    // The fewer times the sums are taken apart, the better.
    for (const int64_t num_split : {0, 1, 2}) {
      rules.emplace_back([shape, num_split](const loop::Kernel& kernel, bool reverse) {
        return schedule_packed_multiply(kernel, reverse, shape, num_split);
      });
    }
  }
  if (target.block) {
    const BlockShape shape = {target.block->channels, target.block->columns,
                              target.block->channels_alone, target.multiply_add()};
    rules.emplace_back([shape](const loop::Kernel& kernel, bool reverse) {
      return schedule_scalar_block(kernel, reverse, shape);
    });
  }
  if (const std::optional<RowShape> shape = row_shape_of(target)) {
    rules.emplace_back([shape](const loop::Kernel& kernel, bool reverse) {
      return schedule_channel_rows(kernel, reverse, *shape);
    });
  }
  return rules;
}

// The target's intrinsics that kernels may call, in front of the functions that may call them.
void add_intrinsics(loop::Program& program, const Target& target) {
  for (const loop::Function& f : target.intrinsics) {
    if (!loop::find_function(program, f.name)) program.functions.push_back(f);
  }
}

// The schedule for which the fewest instructions are estimated. The estimate knows nothing of
// registers and of how addresses are built, which the order of the rules does; so a rule has to be
// better by a quarter than those before it. (Within one rule it is right within a tenth.)
std::optional<BothDirections> reschedule(const loop::Program& program, const loop::Kernel& kernel,
                                         bool may_reverse, const Target& target,
                                         const std::vector<Rule>& rules,
                                         InstructionEstimate& instructions) {
  const auto is_better = [](int64_t cost, int64_t least) { return cost < least - least / 4; };
  const Rule* best = nullptr;
  std::optional<Rescheduled> forward;
  int64_t least = 0;
  for (const Rule& rule : rules) {
    std::optional<Rescheduled> other = rule(kernel, false);
    if (!other || !fits_all_calls(program, kernel.name, *other)) continue;
    const int64_t cost = instructions.of(*other);
    if (best && !is_better(cost, least)) continue;
    best = &rule;
    forward = std::move(other);
    least = cost;
  }
  if (!best) return std::nullopt;
  // What compilers make of portable rows of channels, counts do not say.
  const bool is_counted = !target.is_portable();
  if (is_counted && is_better(instructions.of(jammed(kernel)), least)) return std::nullopt;
  std::optional<Rescheduled> reversed = may_reverse ? (*best)(kernel, true) : std::nullopt;
  return BothDirections{*std::move(forward), std::move(reversed)};
}

// A layer may lose all that it reads; with its weights, tables go that no other call binds.
void remove_dead_code(Scheduled& scheduled) {
  for (size_t k = 0; k < scheduled.program.kernels.size(); ++k) {
    loop::Kernel& kernel = scheduled.program.kernels[k];
    kernel.body = loop::without_dead_code(kernel.body);
    std::optional<loop::Kernel>& reversed = scheduled.reversed[k];
    if (reversed) reversed->body = loop::without_dead_code(reversed->body);
  }
  remove_unread_constants(scheduled.program, scheduled.reversed);
  remove_unused_constants(scheduled.program);
}

// Nests as they are: one loop body per kernel is the least code.
Scheduled unchanged(loop::Program program) {
  Scheduled scheduled;
  for (const loop::Kernel& kernel : program.kernels) scheduled.reversed.push_back(reverse(kernel));
  scheduled.program = std::move(program);
  remove_dead_code(scheduled);
  return scheduled;
}

Choices choices_for(const loop::Program& program, const Target& target) {
  Choices choices;
  const std::vector<Rule> rules = rules_of(target, program);
  InstructionEstimate instructions(program, target);
  int64_t weights_left = kMostWeightsOfAll;
  for (const loop::Kernel& kernel : program.kernels) {
    const int64_t weights = num_weights(kernel);
    const bool is_small = weights <= std::min(kMostWeights, weights_left);
    if (is_small) weights_left -= weights;
    if (!is_small) {
      choices.push_back(std::nullopt);
      continue;
    }
    const bool may_reverse = reverse(kernel).has_value();
    choices.push_back(reschedule(program, kernel, may_reverse, target, rules, instructions));
  }
  return choices;
}

Scheduled with_choices(loop::Program program, const Choices& choices, const Target& target) {
  Scheduled scheduled;
  KernelReplacer replacer(program);
  for (size_t k = 0; k < program.kernels.size(); ++k) {
    const loop::Kernel kernel = program.kernels[k];
    if (const std::optional<BothDirections>& both = choices[k]) {
      replacer.replace(kernel.name, both->forward);
      scheduled.reversed.push_back(both->reversed ? std::optional(both->reversed->kernel)
                                                  : std::nullopt);
      continue;
    }
    std::optional<loop::Kernel> reversed = reverse(kernel);
    if (reversed) reversed = simply_scheduled(*std::move(reversed), target);
    scheduled.reversed.push_back(std::move(reversed));
    program.kernels[k] = simply_scheduled(kernel, target);
  }
  for (size_t k = 0; k < program.kernels.size(); ++k) {
    loop::Block& body = program.kernels[k].body;
    body = with_saturation(body, target);
    std::optional<loop::Kernel>& reversed = scheduled.reversed[k];
    if (reversed) reversed->body = with_saturation(reversed->body, target);
  }
  add_intrinsics(program, target);
  scheduled.program = std::move(program);
  remove_dead_code(scheduled);
  return scheduled;
}

void note_expansions(loop::Program& program,
                     const std::map<std::string, loop::Expansion>& expansions) {
  size_t n = 0;
  loop::for_each_stmt(program.runner, [&](const loop::Stmt& s) {
    const auto* call = std::get_if<loop::CallKernel>(&s.kind);
    if (!call) return;
    const auto found = expansions.find(call->kernel);
    if (found != expansions.end() && n < program.notes.size()) {
      program.notes[n].expansion = found->second;
    }
    ++n;
  });
}

}  // namespace

Scheduled schedule(loop::Program program, const Target& target, Goal goal,
                   std::optional<int64_t> flash_limit) {
  if (!target.features.has_long_multiply) narrow_multiplications(program);
  if (goal == Goal::kSize) return unchanged(std::move(program));

  Choices choices = choices_for(program, target);
  if (!flash_limit) return with_choices(std::move(program), choices, target);
  const auto expansions = expand(program, target, *flash_limit, choices);
  Scheduled scheduled = with_choices(std::move(program), choices, target);
  note_expansions(scheduled.program, expansions);
  return scheduled;
}

}  // namespace ingot
