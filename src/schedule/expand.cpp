// SPDX-License-Identifier: Apache-2.0
#include "schedule/expand.h"

#include <algorithm>
#include <set>
#include <utility>

#include "loop/rewrite.h"
#include "schedule/reschedule.h"
#include "schedule/schedule.h"
#include "schedule/winograd.h"

namespace ingot {
namespace {

int64_t bytes_of(const loop::Param& param) {
  return param.num_elements * size_in_bytes(param.dtype);
}

const loop::Param& param_of(const loop::Kernel& kernel, const std::string& name) {
  return *std::ranges::find(kernel.params, name, &loop::Param::name);
}

using Key = std::vector<std::pair<std::string, int64_t>>;

// What is worked out from the same constants for the same parameter is stored once.
Key key_of(const loop::CallKernel& call, const loop::Kernel& kernel,
           const DerivedConstant& derived) {
  Key key = {{derived.param, 0}};
  for (const std::string& source : derived.sources) {
    const auto at = std::ranges::find(kernel.params, source, &loop::Param::name);
    const loop::BufferRef& ref = call.args.at(static_cast<size_t>(at - kernel.params.begin()));
    key.emplace_back(ref.buffer, ref.offset_elements);
  }
  return key;
}

// The bytes of the constants that `r` makes for all calls of `kernel`.
int64_t derived_bytes(const loop::Program& program, const loop::Kernel& kernel,
                      const Rescheduled& r) {
  int64_t bytes = 0;
  std::set<Key> known;
  loop::for_each_stmt(program.runner, [&](const loop::Stmt& s) {
    const auto* call = std::get_if<loop::CallKernel>(&s.kind);
    if (!call || call->kernel != kernel.name) return;
    for (const DerivedConstant& derived : r.constants) {
      if (!known.insert(key_of(*call, kernel, derived)).second) continue;
      bytes += bytes_of(param_of(r.kernel, derived.param));
    }
  });
  return bytes;
}

// The bytes of the constants that the calls take as they are.
int64_t kept_bytes(const loop::Program& program, const std::map<std::string, size_t>& kernels,
                   const Choices& choices) {
  std::set<std::string> kept;
  loop::for_each_stmt(program.runner, [&](const loop::Stmt& s) {
    const auto* call = std::get_if<loop::CallKernel>(&s.kind);
    if (!call) return;
    const size_t k = kernels.at(call->kernel);
    const std::vector<loop::Param>& params = program.kernels[k].params;
    for (size_t p = 0; p < params.size(); ++p) {
      const bool stays = !choices[k] || std::ranges::find(choices[k]->forward.kernel.params,
                                                          params[p].name, &loop::Param::name) !=
                                            choices[k]->forward.kernel.params.end();
      if (stays) kept.insert(call->args.at(p).buffer);
    }
  });
  int64_t bytes = 0;
  for (const loop::Buffer& buffer : program.buffers) {
    const bool counts = buffer.kind == loop::BufferKind::kConstant && kept.contains(buffer.name);
    if (counts) bytes += buffer.size_bytes();
  }
  return bytes;
}

// Of all constants, once the program is scheduled.
int64_t bytes_with(const loop::Program& program, const Choices& choices) {
  std::map<std::string, size_t> kernels;
  for (size_t k = 0; k < program.kernels.size(); ++k) kernels[program.kernels[k].name] = k;
  int64_t bytes = kept_bytes(program, kernels, choices);
  for (size_t k = 0; k < choices.size(); ++k) {
    if (choices[k]) bytes += derived_bytes(program, program.kernels[k], choices[k]->forward);
  }
  return bytes;
}

int64_t num_calls(const loop::Program& program, const std::string& kernel) {
  int64_t count = 0;
  loop::for_each_stmt(program.runner, [&](const loop::Stmt& s) {
    const auto* call = std::get_if<loop::CallKernel>(&s.kind);
    if (call && call->kernel == kernel) ++count;
  });
  return count;
}

struct Candidate {
  size_t kernel = 0;
  Rescheduled forward;
  int64_t instructions_saved = 0;
  int64_t bytes_added = 0;
  loop::Expansion expansion;
};

// For the kernel's n-th call alike: what each of them has of its own.
loop::Expansion expansion_of(const Rescheduled& r, const Rescheduled& otherwise) {
  loop::Expansion expansion;
  expansion.algorithm = "Winograd F(2x2, 3x3)";
  for (const DerivedConstant& d : r.constants) {
    expansion.weights_bytes += bytes_of(param_of(r.kernel, d.param));
  }
  for (const DerivedConstant& d : otherwise.constants) {
    expansion.weights_bytes_otherwise += bytes_of(param_of(otherwise.kernel, d.param));
  }
  for (const std::string& scratch : r.scratch) {
    expansion.scratch_bytes += bytes_of(param_of(r.kernel, scratch));
  }
  return expansion;
}

std::vector<Candidate> candidates(const loop::Program& program, InstructionEstimate& instructions,
                                  const Choices& choices) {
  std::vector<Candidate> all;
  for (size_t k = 0; k < choices.size(); ++k) {
    const loop::Kernel& kernel = program.kernels[k];
    if (!choices[k]) continue;
    std::optional<Rescheduled> forward = schedule_winograd(kernel, false);
    if (!forward || !fits_all_calls(program, kernel.name, *forward)) continue;
    const Rescheduled& otherwise = choices[k]->forward;
    Candidate candidate;
    candidate.kernel = k;
    candidate.expansion = expansion_of(*forward, otherwise);
    loop::Expansion& expansion = candidate.expansion;
    expansion.instructions = instructions.of(*forward);
    expansion.instructions_otherwise = instructions.of(otherwise);
    if (expansion.instructions >= expansion.instructions_otherwise) continue;
    candidate.instructions_saved = (expansion.instructions_otherwise - expansion.instructions) *
                                   num_calls(program, kernel.name);
    candidate.bytes_added = std::max<int64_t>(
        0, derived_bytes(program, kernel, *forward) - derived_bytes(program, kernel, otherwise));
    candidate.forward = *std::move(forward);
    all.push_back(std::move(candidate));
  }
  return all;
}

}  // namespace

std::map<std::string, loop::Expansion> expand(const loop::Program& program, const Target& target,
                                              int64_t flash_limit, Choices& choices) {
  std::map<std::string, loop::Expansion> expansions;
  // Where there are vectors, they are faster.
  if (!target.features.has_dsp || target.features.has_mve) return expansions;
  int64_t bytes = flash_limit - bytes_with(program, choices);
  if (bytes <= 0) return expansions;
  InstructionEstimate instructions(program, target);
  std::vector<Candidate> all = candidates(program, instructions, choices);
  const auto saved_per_byte = [](const Candidate& c) {
    return static_cast<double>(c.instructions_saved) /
           static_cast<double>(std::max<int64_t>(1, c.bytes_added));
  };
  std::ranges::stable_sort(all, [&](const Candidate& a, const Candidate& b) {
    return saved_per_byte(a) > saved_per_byte(b);
  });
  for (Candidate& candidate : all) {
    if (candidate.bytes_added > bytes) continue;
    bytes -= candidate.bytes_added;
    const loop::Kernel& kernel = program.kernels[candidate.kernel];
    BothDirections both{std::move(candidate.forward), std::nullopt};
    if (reverse(kernel)) both.reversed = schedule_winograd(kernel, true);
    choices[candidate.kernel] = std::move(both);
    expansions[kernel.name] = candidate.expansion;
  }
  return expansions;
}

}  // namespace ingot
