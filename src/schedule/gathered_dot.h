// SPDX-License-Identifier: Apache-2.0
// Convolutions with few taps whose runs are short (few input channels): the elements of x that one
// output position needs are gathered into vectors once, and multiplied with the weights of all
// channels from there. Where a tap lies outside of x its element is x's zero point, so that all
// sums are full.
#pragma once
#include <optional>

#include "loop/program.h"
#include "schedule/vector_dot.h"

namespace ingot {

// nullopt if the kernel is of another form, or if schedule_vector_dot reads no more vectors.
// `shape` is one whose dots go across.
std::optional<Rescheduled> schedule_gathered_dot(const loop::Program& program,
                                                 const loop::Kernel& kernel, bool reverse,
                                                 const DotShape& shape);

}  // namespace ingot
