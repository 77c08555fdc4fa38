// SPDX-License-Identifier: Apache-2.0
// Whether another order of the operators could need less memory.
#pragma once
#include <cstdint>

#include "loop/program.h"
#include "report/metadata.h"

namespace ingot {

// What every order of the calls needs: for some call, all arena buffers that it reads exist at
// once, and all that it writes; these may overlap those. Of buffers that lie inside one another
// (tied groups) only the largest is counted.
int64_t bound_of_any_order(const loop::Program& program, const ArenaFacts& arena);

// True if no order of the calls has a lower arena: the plan is as low as bound_of_any_order or as
// arena.order_bound_bytes, or it
// is the lowest for its order and each call needs what the one before it wrote, so that there is
// no other order.
bool is_order_optimal(const loop::Program& program, const ArenaFacts& arena);

}  // namespace ingot
