// SPDX-License-Identifier: Apache-2.0
// How the schedules for vectors are cut for each target: by its registers and instructions, or by
// what compilers of unknown machines make of them.
#pragma once
#include <optional>

#include "schedule/channel_rows.h"
#include "schedule/vector_dot.h"
#include "schedule/vector_terms.h"
#include "target/target.h"

namespace ingot {

std::optional<DotShape> dot_shape_of(const Target& target);
// Of layers without positions (dense ones), where that is another.
std::optional<DotShape> dense_shape_of(const Target& target);
std::optional<TermShape> term_shape_of(const Target& target);
std::optional<RowShape> row_shape_of(const Target& target);

}  // namespace ingot
