// SPDX-License-Identifier: Apache-2.0
// The verifier of loop programs: well-formed, and every access proved in bounds.
#pragma once
#include <string>
#include <vector>

#include "loop/program.h"

namespace ingot::loop {

// What is wrong with the form of `program`, one sentence per fault; empty if nothing: names unique
// and defined before use, types agree, calls match parameters in number, dtype, size (an argument's
// buffer holds at least offset + the parameter's elements) and access (no kernel writes constants
// or, unless `inputs_writable`, inputs), local arrays within 256 bytes per kernel.
std::vector<std::string> find_faults(const Program& program, bool inputs_writable = false);

// An access that could not be proved to stay inside its buffer, or to be aligned as it says.
struct Unproved {
  std::string kernel;
  std::string access;  // as text: "x[oy * 2 + ky]"
  std::string reason;  // "index in [-4, 51], the buffer has 49 elements"
};

// Proves every load and store in bounds, and the index of each a multiple of what its alignment
// asks. Affine indices are bounded by eliminating loop variables from the innermost outward,
// substituting the bounds (each alternative of min and max) of each loop, and what the conditions
// around say; other values by interval arithmetic over their types and the constants' contents.
// `program` has no faults.
std::vector<Unproved> unproved_accesses(const Program& program);

}  // namespace ingot::loop
