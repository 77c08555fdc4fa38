// SPDX-License-Identifier: Apache-2.0
// Overlap inside operators: a step's output may take bytes of an input that is read for the last
// time there, as far as the step's kernel allows.
//
// How far follows from the accesses of the kernel alone (loop/overlap.h), forward as it is
// scheduled and in reverse. The planner chooses the directions; the kernels follow.
#pragma once
#include <optional>
#include <span>
#include <vector>

#include "loop/program.h"
#include "plan/plan.h"

namespace ingot {

// By kernel of a program: the same one run in reverse, or nothing.
using ReversedKernels = std::span<const std::optional<loop::Kernel>>;

// The overlaps of `problem`, whose buffer b is buffer buffers[b] of `program`. A step is a call of
// the runner, outside loops and branches, by its place among all calls. An input qualifies if the
// step is the last in its lifetime and `may_be_overwritten` (by buffer of the program), an output
// if the step is its first. Both must have one element type, or one of them be of bytes: that is
// what C allows to lie in the same place.
std::vector<plan::Overlap> find_overlaps(const loop::Program& program, ReversedKernels reversed,
                                         const plan::Problem& problem,
                                         std::span<const size_t> buffers,
                                         const std::vector<bool>& may_be_overwritten);

// The overlaps that there would be if every input died in every step that reads it: what an order
// of the steps can choose from.
std::vector<plan::Overlap> find_possible_overlaps(const loop::Program& program,
                                                  ReversedKernels reversed,
                                                  const plan::Problem& problem,
                                                  std::span<const size_t> buffers,
                                                  const std::vector<bool>& may_be_overwritten);

// Changes the directions of a valid plan, where its places allow several, so that as few kernels as
// possible are needed in both: forward, unless another call of the same kernel must run in reverse
// and all of them can.
void unify_directions(const loop::Program& program, const plan::Problem& problem, plan::Plan& plan);

// `program` with the kernels of the steps that are to run in reverse replaced. A kernel that is
// needed in both directions becomes two; calls without a direction take the one that is there.
loop::Program with_directions(loop::Program program, ReversedKernels reversed,
                              std::span<const plan::StepDirection> directions);

}  // namespace ingot
