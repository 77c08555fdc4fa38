// SPDX-License-Identifier: Apache-2.0
// The order of the runner's calls: of all that the calls' data allow, one whose worst step needs
// least memory, with what overlap inside operators saves counted in (plan/order.h).
#pragma once
#include <optional>
#include <span>
#include <vector>

#include "loop/program.h"
#include "plan/plan.h"
#include "storage/overlaps.h"

namespace ingot {

struct BetterOrder {
  // With its calls in an order that promises less memory than theirs, or nothing: none is known, or
  // the runner is more than a sequence of calls that each write buffers of their own.
  std::optional<loop::Program> program = {};
  int64_t lower_bound_bytes = 0;  // of all orders; 0 if nothing is known
};

// `problem`, `buffers` and `may_be_overwritten` as for find_overlaps.
BetterOrder in_better_order(const loop::Program& program, ReversedKernels reversed,
                            const plan::Problem& problem, std::span<const size_t> buffers,
                            const std::vector<bool>& may_be_overwritten);

}  // namespace ingot
