// SPDX-License-Identifier: Apache-2.0
// What happens between two steps of the compiler: the result is verified (after each step in debug
// builds, once at the end in others) and the hooks hear of it.
#pragma once
#include <string_view>

#include "driver/compile.h"

namespace ingot {

class Steps {
 public:
  Steps(const Hooks& hooks, bool inputs_writable)
      : hooks_(hooks), inputs_writable_(inputs_writable) {}

  // Throw InternalError if what the step left is ill-formed.
  void done(std::string_view step, const Graph& graph) const;
  void done(std::string_view step, const loop::Program& program) const;
  void done(std::string_view step) const;

  // Verifies `program` in every build; what cannot be proved in bounds is refused.
  Diagnostics final_check(const loop::Program& program) const;

 private:
  void verify(std::string_view step, const loop::Program& program) const;

  const Hooks& hooks_;
  bool inputs_writable_;
};

}  // namespace ingot
