// SPDX-License-Identifier: Apache-2.0
// How the vector schedules are cut for each target with vectors: by its registers and instructions.
#pragma once
#include <optional>

#include "schedule/vector_dot.h"
#include "schedule/vector_terms.h"
#include "target/target.h"

namespace ingot {

std::optional<DotShape> dot_shape_of(const Target& target);
std::optional<TermShape> term_shape_of(const Target& target);

}  // namespace ingot
