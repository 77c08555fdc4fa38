// SPDX-License-Identifier: Apache-2.0
// `ingot inspect --plan`: the arena drawn as text, for people who want to see where the RAM goes.
#pragma once
#include <string>

#include "loop/program.h"
#include "report/metadata.h"

namespace ingot {

// Time across (the steps of the runner), addresses up; a letter per buffer, `*` where two share
// bytes in one step. Then what the letters mean, the tensors alive at the peak, and what sharing
// bytes one after the other and overlap inside operators save. Plans again without overlaps for
// that.
std::string plan_text(const loop::Program& program, const ArenaFacts& arena);

}  // namespace ingot
