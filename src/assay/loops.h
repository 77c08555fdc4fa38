// SPDX-License-Identifier: Apache-2.0
// What assay reads of NAME.loops, with a reader of its own: the buffers, which parameters each
// kernel really stores to, and what the runner calls in which order.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace ingot::assay {

struct LoopBuffer {
  std::string name;
  std::string kind;  // "input", "output", "arena", "constant"
  int64_t size_bytes = 0;
  int64_t element_bytes = 0;
  int64_t alignment = 1;
  std::optional<int64_t> offset_bytes;
  int64_t tie_group = -1;
  int64_t tie_offset_bytes = 0;
};

struct LoopParam {
  std::string name;
  int64_t size_bytes = 0;
  bool says_it_writes = false;
  bool stores = false;  // found in the body
};

struct LoopArg {
  std::string buffer;
  int64_t offset_elements = 0;
};

struct LoopCall {
  std::string kernel;
  std::vector<LoopArg> args;
};

struct Loops {
  std::vector<LoopBuffer> buffers;
  std::map<std::string, std::vector<LoopParam>> kernels;
  std::vector<LoopCall> calls;  // in order of time
};

// The program, or a sentence that says which line is not understood.
std::variant<Loops, std::string> read_loops(std::string_view text);

}  // namespace ingot::assay
