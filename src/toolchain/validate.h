// SPDX-License-Identifier: Apache-2.0
// Running a compiled model that was built with the validation harness (harness_text.h) on vectors,
// and comparing what it gives with what is expected.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "support/result.h"
#include "toolchain/emulate.h"
#include "toolchain/harness_text.h"

namespace ingot::toolchain {

struct Validation {
  Execution execution;
  // Of each vector that was run to its end, in order.
  std::vector<Tensors> outputs;
  // Instructions on a core, nanoseconds on the host, of each vector's NAME_run; empty unless all
  // vectors were run.
  std::vector<int64_t> run_costs;
  // The same in parts, if the model's code holds MARK_NEXT() between its steps (build it with the
  // flags `-include ../runtime/harness.h`): one part more than there are marks.
  std::vector<std::vector<int64_t>> step_costs;
  // What must not happen and did: overrun buffers, changed inputs, faults, a time limit, a status
  // that is not 0. One line each; empty if all is well.
  std::vector<std::string> violations;
  // The most stack that NAME_run was seen to use; nullopt on the host.
  std::optional<int64_t> stack_bytes;
};

// Runs the model on the inputs of each vector. `program` must have been built from
// validation_harness(model); every tensor must have the size that `model` states.
Result<Validation> run_vectors(const Program& program, const ModelInterface& model,
                               std::span<const Tensors> inputs,
                               std::chrono::milliseconds timeout = std::chrono::minutes(5));

// What `validate --json` prints.
struct Comparison {
  int64_t compared = 0;
  int64_t different = 0;
  double max_difference = 0;  // infinite where exactly one of two elements is NaN

  bool equal() const { return different == 0; }
  Comparison& operator+=(const Comparison& other);
};

// Element by element. Integers must be equal; float32 and float64 x and y with
// |x - y| <= 1e-5 * max|expected| (of the finite expected elements), equal infinities and two NaN
// count as equal. A different number of bytes: every element is different.
Comparison compare(DType dtype, std::span<const uint8_t> expected, std::span<const uint8_t> actual);

}  // namespace ingot::toolchain
