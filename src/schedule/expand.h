// SPDX-License-Identifier: Apache-2.0
// Schedules that take more flash than others in exchange for fewer instructions: which kernels get
// them, as far as a budget allows.
#pragma once
#include <cstdint>
#include <map>
#include <string>

#include "loop/program.h"
#include "schedule/choices.h"
#include "target/target.h"

namespace ingot {

// Replaces choices by Winograd's convolution (schedule/winograd.h) where the target has it and
// fewer instructions are estimated for it, those first that save the most per byte, as long as all
// constants of the program are at most `flash_limit` bytes. What it costs is the answer, by kernel.
std::map<std::string, loop::Expansion> expand(const loop::Program& program, const Target& target,
                                              int64_t flash_limit, Choices& choices);

}  // namespace ingot
