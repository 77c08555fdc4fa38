// SPDX-License-Identifier: Apache-2.0
// The distances that NAME.json states: how near the output of a step may start to an input that is
// read there for the last time. Here they are taken as stated; that they belong to buffers which
// really begin and end in that step, and that the plan keeps to them, is checked.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "assay/json.h"
#include "assay/loops.h"

namespace ingot::assay {

// An arena buffer and when it is alive.
struct Life {
  const LoopBuffer* buffer = nullptr;
  int64_t begin = 0;
  int64_t end = 0;  // half-open; equal to begin: never alive

  bool meets(const Life& other) const {
    return begin < other.end && other.begin < end && begin < end && other.begin < other.end;
  }
};

class Distances {
 public:
  Distances() = default;
  explicit Distances(const Json& json);

  // The first that no step can have: of a buffer that does not begin or end there, that the step
  // does not write or read, or that must survive; two directions in one step. Empty if none.
  std::string find_lie(const Loops& loops, const std::vector<Life>& lives, bool reuse_inputs) const;
  // Whether the two, which are alive together, may lie where they lie.
  bool allow(const LoopBuffer& a, const LoopBuffer& b) const;
  // The most bytes that the output at some place in memory may have in common with the input.
  int64_t most_shared(const LoopBuffer& output, const LoopBuffer& input) const;
  bool empty() const { return stated_.empty(); }

 private:
  struct Stated {
    std::string output;
    std::string input;
    int64_t step = -1;
    std::optional<int64_t> forward;
    std::optional<int64_t> reverse;
    std::string runs;  // "forward", "reverse"
  };
  const Stated* find(const LoopBuffer& output, const LoopBuffer& input) const;

  std::vector<Stated> stated_;
  std::map<std::pair<std::string, std::string>, size_t> by_pair_;  // output, input
};

}  // namespace ingot::assay
