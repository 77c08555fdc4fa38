// SPDX-License-Identifier: Apache-2.0
// Schedules that take more flash than others in exchange for fewer instructions: which kernels get
// them, as far as a budget allows.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "loop/program.h"
#include "schedule/rescheduled.h"
#include "target/target.h"

namespace ingot {

struct BothDirections {
  Rescheduled forward;
  std::optional<Rescheduled> reversed;
};

// By kernel of a program; nullopt: its nest as it is.
using Choices = std::vector<std::optional<BothDirections>>;

// About how many instructions one run of `kernel` executes on a core without vectors. `program` has
// the functions that it calls.
int64_t estimated_instructions(const loop::Program& program, const loop::Kernel& kernel);

// Replaces choices by Winograd's convolution (schedule/winograd.h) where the target has it and
// fewer instructions are estimated for it, those first that save the most per byte, as long as all
// constants of the program are at most `flash_limit` bytes. What it costs is the answer, by kernel.
std::map<std::string, loop::Expansion> expand(const loop::Program& program, const Target& target,
                                              int64_t flash_limit, Choices& choices);

}  // namespace ingot
