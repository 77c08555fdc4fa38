// SPDX-License-Identifier: Apache-2.0
// Compiled networks as assay reads them, and lies about them: a plan, a claim or the loop program
// changed at random.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "driver/compile.h"
#include "report/json_text.h"
#include "tests/support/random.h"

namespace ingot::testing {

// A compiled network whose parts may be changed.
struct Judged {
  std::string name;
  loop::Program program;
  Json json;
  std::vector<std::vector<uint8_t>> inputs;  // some, at random
  bool inputs_writable = false;
};

Judged judged(const Compiled& compiled, const CompileOptions& options);

struct Mutant {
  std::string kind;   // of the change
  std::string loops;  // text of NAME.loops
  Json json;
  bool is_lie = false;  // whatever a run says: the claim contradicts what it is about
};

// `original` changed somewhere; a function of the state of `random`.
Mutant mutated(const Judged& original, Random& random);

// Whether the program goes wrong: it is no program, reads what is not there in a shadow run, or
// breaks a rule of places. Nothing if a run cannot tell (values out of range).
std::optional<bool> goes_wrong(const Mutant& mutant, const Judged& original, std::string& why);

}  // namespace ingot::testing
