// SPDX-License-Identifier: Apache-2.0
// Which loop transformations each kernel gets. The plain nest that `lower` made stays the meaning;
// what comes out computes the same values, access by access the same elements.
#pragma once
#include <optional>
#include <vector>

#include "loop/program.h"
#include "target/target.h"

namespace ingot {

struct Scheduled {
  loop::Program program;
  // By kernel of the program: the same one with its outputs written from the last to the first, for
  // outputs that start behind the input they overwrite; nothing if that order cannot be had.
  std::vector<std::optional<loop::Kernel>> reversed;
};

// What matters most: instructions, or bytes of code. (Bytes of RAM: the driver takes the better of
// the two.)
enum class Goal : uint8_t { kSpeed, kSize };

// With `flash_limit`, in bytes of constants, schedules for speed may make larger ones of weights as
// long as all together are not more (schedule/expand.h).
Scheduled schedule(loop::Program program, const Target& target, Goal goal = Goal::kSpeed,
                   std::optional<int64_t> flash_limit = std::nullopt);

// `kernel` with all loops that write outputs run from the last iteration to the first; loops that
// only sum keep their order, as the order of floating-point sums counts. Nothing if it has no such
// loop or if in one of them the order matters.
std::optional<loop::Kernel> reverse(const loop::Kernel& kernel);

}  // namespace ingot
