// SPDX-License-Identifier: Apache-2.0
// A kernel reduced to where it writes one parameter and reads another: the loops and branches
// around these accesses, in order, and the scalars that their indices and bounds may be made of.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "loop/program.h"

namespace ingot::loop {

struct AccessNode {
  enum class Kind : uint8_t { kLet, kRead, kWrite, kLoop, kBranch };
  Kind kind = Kind::kLet;
  std::string name = {};  // of a let, of a loop's variable
  Expr a = nullptr;       // value, index, begin, condition
  Expr b = nullptr;       // end
  int64_t lanes = 1;
  int64_t step = 1;
  bool reverse = false;
  std::vector<AccessNode> body = {};
  std::vector<AccessNode> other = {};  // else
};

struct AccessedParam {
  int64_t num_elements = 0;
  int64_t element_bytes = 1;
  int64_t size_bytes = 0;
};

struct Accesses {
  AccessedParam output;
  AccessedParam input;
  std::vector<AccessNode> nodes;
};

// The writes of parameter `output` and the reads of parameter `input`. A scalar that is assigned
// after its declaration has no kLet: nothing is known of it.
Accesses accesses_of(const Kernel& kernel, const std::string& output, const std::string& input);

}  // namespace ingot::loop
