// SPDX-License-Identifier: Apache-2.0
// The shadow run: the program is interpreted while every byte of the arena carries the tag of the
// value that it holds. A read must find the value that it is meant to find; so an overlap that
// destroys something too early shows, whatever was proved about it.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "loop/program.h"

namespace ingot::loop {

// Runs `program`, whose arena is planned, on `inputs` (interpret.h) and says what was read that was
// not there, one sentence per call and buffer, at most 16: a byte that holds part of another value
// or nothing yet. In the end outputs must stand there whole, and so must inputs, unless
// `inputs_writable`. Members of a tied group are one value.
std::vector<std::string> shadow_faults(const Program& program,
                                       std::span<const std::vector<uint8_t>> inputs,
                                       int64_t arena_bytes, bool inputs_writable);

}  // namespace ingot::loop
