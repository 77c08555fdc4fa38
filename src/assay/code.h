// SPDX-License-Identifier: Apache-2.0
// What is left of a kernel once its arithmetic on data is taken away: the reads and writes in their
// order, the loops around them, and the scalars on which indices and bounds depend.
#pragma once
#include <array>
#include <cstdint>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "assay/loops.h"

namespace ingot::assay {

// A claim that does not hold, in one sentence.
struct Lie : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// constant + sum of factor * slot: what nearly all indices are.
struct Sum {
  struct Term {
    int slot = 0;
    int64_t factor = 0;
  };
  int64_t constant = 0;
  size_t num_terms = 0;
  std::array<Term, 6> terms = {};
};

// Throws Lie with that sentence if something is wrong.
inline void refuse_if(bool wrong, std::initializer_list<std::string_view> sentence) {
  if (!wrong) return;
  std::string text;
  for (const std::string_view part : sentence) text += part;
  throw Lie(text);
}

struct Action {
  enum class Kind : uint8_t { kRead, kWrite, kSet, kLoop, kBranch, kCall };
  Kind kind = Kind::kRead;
  bool is_sum = false;   // of kRead and kWrite: the index is `sum`
  bool on_data = false;  // bounds, condition or value may depend on data
  bool reverse = false;
  bool stores = false;  // to a parameter, itself or inside
  int target = -1;      // place, slot, call
  int a = -1;           // index, value, begin, condition
  int b = -1;           // end
  int64_t step = 1;
  int64_t lanes = 1;
  int64_t alignment = 1;
  Sum sum = {};
  std::vector<Action> body = {};
  std::vector<Action> otherwise = {};
};

struct Code {
  const Body* body = nullptr;
  size_t num_params = 0;
  std::vector<Action> actions;
};

// `name` is for messages. Throws Lie where a parameter is read or written that is stated otherwise.
// `body` must outlive the result.
Code translate(const std::string& name, const Body& body, size_t num_params);

}  // namespace ingot::assay
