// SPDX-License-Identifier: Apache-2.0
// The order of kernels that needs least memory at its worst step.
//
// Running a step needs all buffers alive before it, its outputs and its scratch, less what in-place
// saves: for every input that dies in the step as many bytes as the overlap analysis allows, at
// most the outputs themselves - the same sum as the load bound of the packer, so that order and
// overlap are chosen together.
//
// Steps that every other step depends on or is depended on by cut the graph into segments, which
// are solved one by one. A segment that is series-parallel is solved by merging its parts
// (order_merge.h), in polynomial time; the order is optimal unless many buffers are shared by
// parallel branches. Otherwise a shortest-path search over sets of finished steps (down-sets), by
// least peak first, finds the optimum; a step that frees as much as it makes and does not raise the
// peak is always taken at once, so chains and branches cost few states. Where a segment has more
// states than the budget, the best order found is taken, and `optimal` says so unless it meets the
// bound that was proven by then.
#pragma once
#include <cstdint>
#include <vector>

namespace ingot::plan {

// What one input saves by dying in the step (an overlap with the outputs), in bytes; at most its
// size.
struct InPlace {
  int64_t input = 0;  // buffer
  int64_t saved_bytes = 0;
};

struct Step {
  std::vector<int64_t> inputs;   // buffers, each at most once
  std::vector<int64_t> outputs;  // each written by one step only
  int64_t scratch_bytes = 0;
  std::vector<InPlace> in_place = {};
};

struct OrderProblem {
  std::vector<int64_t> buffer_bytes;
  std::vector<bool> kept;  // alive to the end (outputs of the model); one per buffer
  std::vector<Step> steps;
  // Buffers that no step writes are alive from the beginning. A step must come after another one
  // if it reads its outputs, or if listed here as (before, after).
  std::vector<std::pair<int64_t, int64_t>> constraints = {};
};

struct StepOrder {
  std::vector<int64_t> order;  // steps
  int64_t peak_bytes = 0;
  int64_t lower_bound_bytes = 0;  // no order has a lower peak
  bool optimal = false;           // the two are equal
};

// The bytes alive at the worst step of `order`.
int64_t peak_of(const OrderProblem& problem, const std::vector<int64_t>& order);

// An order of least peak, or the best one found with `states` states of the search per problem.
// Requires that the steps can be ordered at all (no cycle). Among equals, earlier steps first.
StepOrder least_peak_order(const OrderProblem& problem, int64_t states = 200'000);

}  // namespace ingot::plan
