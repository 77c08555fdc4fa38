// SPDX-License-Identifier: Apache-2.0
#include "driver/steps.h"

#include "graph/text.h"
#include "graph/verify.h"
#include "loop/text.h"
#include "loop/verify.h"
#include "support/check.h"

namespace ingot {
namespace {

#ifdef NDEBUG
constexpr bool kVerifyEachStep = false;
#else
constexpr bool kVerifyEachStep = true;
#endif

constexpr int64_t kLongestPrintedConstant = 64;

void throw_if_any(std::string_view step, const std::vector<std::string>& faults) {
  if (faults.empty()) return;
  throw InternalError("after " + std::string(step) + ": " + faults.front());
}

}  // namespace

void Steps::done(std::string_view step, const Graph& graph) const {
  if (kVerifyEachStep) throw_if_any(step, find_faults(graph));
  if (!hooks_.after_step) return;
  hooks_.after_step(
      step, [&] { return print(graph, {.longest_constant_bytes = kLongestPrintedConstant}); });
}

void Steps::done(std::string_view step, const loop::Program& program) const {
  if (kVerifyEachStep) verify(step, program);
  if (!hooks_.after_step) return;
  hooks_.after_step(step, [&] { return loop::print(program, {.data = false}); });
}

void Steps::done(std::string_view step) const {
  if (hooks_.after_step) hooks_.after_step(step, [] { return std::string(); });
}

void Steps::verify(std::string_view step, const loop::Program& program) const {
  throw_if_any(step, loop::find_faults(program, inputs_writable_));
}

Diagnostics Steps::final_check(const loop::Program& program) const {
  verify("storage", program);
  Diagnostics refusals;
  for (const loop::Unproved& access : loop::unproved_accesses(program)) {
    refusals.push_back(
        {Code::kAccessUnproved, "kernel " + quote(access.kernel),
         "the access " + access.access + " is not proved in bounds: " + access.reason,
         "please report this model: Ingot compiles only what it can prove"});
  }
  return refusals;
}

}  // namespace ingot
