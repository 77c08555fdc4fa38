// SPDX-License-Identifier: Apache-2.0
// Element by element, in vectors: innermost loops whose iterations only load and store neighbours.
#pragma once
#include <optional>

#include "loop/program.h"
#include "schedule/rescheduled.h"
#include "schedule/vector_terms.h"

namespace ingot {

// Each such loop of the kernel by vectors of four elements of 32 bits, what is left one by one;
// bytes that are only copied by vectors of bytes (schedule/copies.h).
// nullopt if there is none, or if elements would need more than 32 bits in the lanes. `reverse`:
// outputs from the last to the first.
std::optional<Rescheduled> schedule_vector_elements(const loop::Program& program,
                                                    const loop::Kernel& kernel, bool reverse,
                                                    const TermShape& shape);

}  // namespace ingot
