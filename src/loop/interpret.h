// SPDX-License-Identifier: Apache-2.0
// The meaning of a loop program on the host: bit for bit what the C computes for integers.
#pragma once
#include <functional>
#include <map>
#include <span>
#include <vector>

#include "loop/program.h"

namespace ingot::loop {

// One access of memory by a kernel, in the order in which they happen.
struct MemoryAccess {
  int64_t param = 0;    // index of the kernel's parameter
  int64_t element = 0;  // first element touched
  int64_t lanes = 1;
  bool is_store = false;
};

struct InterpretOptions {
  // Called for each access to a parameter, if set.
  std::function<void(const MemoryAccess&)> on_access = nullptr;
  // The literals of the kernel's scalars, if it has any.
  std::vector<Expr> scalars = {};
};

// Runs `kernel` on memory given per parameter (exactly its elements, any alignment). Throws
// InternalError on an access outside a parameter, an integer overflow, a narrowing that does not
// fit, a division by zero, a read of an unassigned local element.
void interpret(const Program& program, const Kernel& kernel,
               std::span<const std::span<uint8_t>> memory, const InterpretOptions& options = {});

// One access of memory by a program, in the order in which they happen.
struct BufferAccess {
  int64_t call = 0;        // counts the kernels that have been called
  size_t buffer = 0;       // index in program.buffers
  int64_t first_byte = 0;  // in the buffer
  int64_t size_bytes = 0;
  bool is_store = false;
};
using OnBufferAccess = std::function<void(const BufferAccess&)>;

// Runs the whole program: `inputs` as many as it has, in order, each exactly its size. Arena
// buffers live at their offsets in one arena of `arena_bytes`, in pools of their own or in outputs
// (filled with noise first), if all have offsets, else each in memory of its own. Returns the
// outputs.
std::vector<std::vector<uint8_t>> interpret(const Program& program,
                                            std::span<const std::vector<uint8_t>> inputs,
                                            int64_t arena_bytes = -1,
                                            const OnBufferAccess& on_access = nullptr);

// The value of an expression without variables or loads.
int64_t evaluate_int(const Program& program, const Expr& e);

}  // namespace ingot::loop
