// SPDX-License-Identifier: Apache-2.0
// How much stack NAME_run needs on a core, bounded from the loop program alone.
#pragma once
#include <cstdint>
#include <optional>

#include "loop/program.h"
#include "target/target.h"

namespace ingot {

// A bound in bytes, for `program` built with the target's compile flags; nullopt for targets on
// which nobody measures it (the tests paint the stack of the emulated cores and compare).
//
// The deepest path is the runner, one kernel, the functions it calls and the compiler's run-time
// library. A frame is counted as if nothing of it were in registers: every named scalar, parameter,
// loop (its counter and its end) and access (its address) has a place of its own, beside the local
// arrays and all registers that a callee saves.
std::optional<int64_t> stack_bound(const loop::Program& program, const Target& target);

}  // namespace ingot
