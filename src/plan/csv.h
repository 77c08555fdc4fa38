// SPDX-License-Identifier: Apache-2.0
// Problems and plans as the CSV that MiniMalloc reads and writes: a header line, then one buffer a
// line. Columns, in any order: id, lower, upper, size (needed; lifetimes are half-open), alignment,
// fixed (a required offset), offset (of a plan), hint (ignored). Lines may end in CRLF; spaces
// around a field and empty lines are ignored.
#pragma once
#include <string>
#include <string_view>

#include "plan/plan.h"
#include "support/result.h"

namespace ingot::plan {

// A problem with one pool and, where there is a column `offset`, the offsets of a plan.
struct CsvProblem {
  Problem problem;
  std::vector<int64_t> offsets = {};  // one per buffer, or none
};

// Reports every line that is wrong, at most ten of them.
Result<CsvProblem> read_csv(std::string_view text);

// id,lower,upper,size, then alignment and fixed if any buffer has one, then offset if `plan` is
// given. Commas, quotes and control characters in ids become underscores.
std::string write_csv(const Problem& problem, const Plan* plan = nullptr);

}  // namespace ingot::plan
