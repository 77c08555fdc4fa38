// SPDX-License-Identifier: Apache-2.0
// Random runners for the tests of storage, and what an execution would do to the arena's bytes.
#pragma once
#include <cstdint>
#include <string>

#include "loop/program.h"
#include "storage/storage.h"

namespace ingot::testing {

bool is_input_or_output(const loop::Buffer& buffer);

// Inputs, outputs, constants, arena buffers (some of them pieces of others) of random types, sizes
// and alignments; calls, loops and branches that read only what has been written. Kernels write
// their first argument and read the others, element by element or one after the other. Every output
// is written outside of branches.
loop::Program random_program(uint64_t seed);

// Executes the runner of a placed program, access by access, on an arena and on inputs and outputs
// of exact size that remember who wrote each byte: every loop twice, each branch taken with
// `chance` of 2. Empty if every call finds in what it reads, and the caller in the outputs and
// (unless they may be reused) the inputs, nothing but what was written there for it; else a
// sentence about the first that does not. It knows nothing of lifetimes.
std::string execution_fault(const loop::Program& program, const StorageOptions& options,
                            uint64_t seed, int64_t chance);

}  // namespace ingot::testing
