// SPDX-License-Identifier: Apache-2.0
#include "schedule/choices.h"

#include "loop/cost.h"
#include "loop/rewrite.h"

namespace ingot {
namespace {

// Count, compare, branch, and an address that moves on.
constexpr int64_t kInstructionsPerIteration = 4;

}  // namespace

InstructionEstimate::InstructionEstimate(const loop::Program& program, const Target& target) {
  know(target.intrinsics);
  know(program.functions);
}

void InstructionEstimate::know(const std::vector<loop::Function>& functions) {
  for (const loop::Function& f : functions) {
    if (!loop::find_function(functions_, f.name)) functions_.functions.push_back(f);
  }
}

int64_t InstructionEstimate::of(const loop::Kernel& kernel) const {
  const loop::Cost cost = loop::cost_of(functions_, kernel);
  return cost.operations + cost.loads + cost.stores + kInstructionsPerIteration * cost.iterations;
}

int64_t InstructionEstimate::of(const Rescheduled& r) {
  know(r.functions);
  return of(r.kernel);
}

}  // namespace ingot
