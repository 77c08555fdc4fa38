// SPDX-License-Identifier: Apache-2.0
// CHECK states what the surrounding code relies on. A failed CHECK is a bug in the compiler, never
// a fault of the user's model: it throws InternalError, which driver::compile catches once, so that
// the command line can ask for a report and exit 70. No model file may reach one.
#pragma once
#include <stdexcept>
#include <string>

namespace ingot {

// A broken invariant of the compiler.
class InternalError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

[[noreturn]] inline void check_failed(const char* condition, const char* file, int line) {
  throw InternalError(std::string(file) + ":" + std::to_string(line) + ": expected " + condition);
}

}  // namespace ingot

#define CHECK(condition) \
  ((condition) ? void() : ::ingot::check_failed(#condition, __FILE_NAME__, __LINE__))
