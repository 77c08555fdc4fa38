// SPDX-License-Identifier: Apache-2.0
// Which memory a buffer's offset counts from: the arena, a pool of the caller's, or an input or
// output of the caller's that holds inner values while it holds none of its own (--reuse-inputs,
// --scratch-in-outputs). Buffer::pool names it; names of pools are C names, so that none can be
// taken for that of an input or output.
#pragma once
#include <string>

#include "loop/program.h"

namespace ingot::loop {

inline const std::string kLentMemory = "caller's ";

// What Buffer::pool is for a buffer that lies in the input or output `port`.
inline std::string memory_of_port(const std::string& port) { return kLentMemory + port; }

// The input or output that the buffer lies in; empty if it lies in the arena or in a pool.
inline std::string lender_of(const Buffer& b) {
  return b.pool.starts_with(kLentMemory) ? b.pool.substr(kLentMemory.size()) : "";
}

// An input or output outside the arena.
inline bool is_callers(const Buffer& b) {
  return (b.kind == BufferKind::kInput || b.kind == BufferKind::kOutput) && !b.offset_bytes;
}

// int8_t and uint8_t in C, which may stand for the bytes of any type.
constexpr bool is_of_bytes(DType dtype) {
  return dtype == DType::kInt8 || dtype == DType::kUInt8 || dtype == DType::kBool;
}

}  // namespace ingot::loop
