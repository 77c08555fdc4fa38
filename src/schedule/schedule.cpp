// SPDX-License-Identifier: Apache-2.0
#include "schedule/schedule.h"

#include <array>
#include <optional>
#include <string>
#include <utility>

#include "schedule/unroll_and_jam.h"

namespace ingot {
namespace {

// Four sums and what they share fit the registers of a Cortex-M without spilling.
constexpr int64_t kJamFactor = 4;

// The loops over output channels, by the names that lowering gives them.
constexpr std::array<const char*, 2> kChannelLoops = {"oc", "c"};

}  // namespace

loop::Program schedule(loop::Program program, const Target& /*target*/) {
  for (loop::Kernel& kernel : program.kernels) {
    for (const char* variable : kChannelLoops) {
      std::optional<loop::Kernel> jammed = unroll_and_jam(kernel, variable, kJamFactor);
      if (jammed) kernel = std::move(*jammed);
    }
  }
  return program;
}

}  // namespace ingot
