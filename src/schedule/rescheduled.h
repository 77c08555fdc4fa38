// SPDX-License-Identifier: Apache-2.0
// What a schedule makes of one kernel.
#pragma once
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "loop/program.h"
#include "tensor/bytes.h"

namespace ingot {

// A parameter of the new kernel that the old one did not have: constants worked out from those that
// a call binds to parameters of the old one.
struct DerivedConstant {
  std::string param;
  std::vector<std::string> sources;
  std::function<Bytes(const std::vector<Bytes>&)> make;
};

// From the constants of one parameter.
inline DerivedConstant derived(std::string param, std::string source,
                               std::function<Bytes(const Bytes&)> make) {
  return {std::move(param), {std::move(source)}, [make = std::move(make)](const auto& from) {
            return make(from.front());
          }};
}

struct Rescheduled {
  loop::Kernel kernel;  // parameters of equal names are bound as before
  std::vector<DerivedConstant> constants;
  // Parameters for memory in which the kernel works: each call gets buffers of its own.
  std::vector<std::string> scratch = {};
  // The intrinsics that it calls, callees first.
  std::vector<loop::Function> functions;
  // Whether the schedule is right for the constants that a call binds to `sources`; empty: always.
  std::vector<std::string> sources;
  std::function<bool(const std::vector<Bytes>&)> fits;
};

}  // namespace ingot
