// SPDX-License-Identifier: Apache-2.0
// C programs around a compiled model: the one that validates it (with runtime/validate.c), and the
// self-check that a firmware engineer gets (`--emit-test`).
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "support/file.h"
#include "tensor/dtype.h"

namespace ingot::toolchain {

// An input or output of the model.
struct Port {
  std::string c_name;
  DType dtype = DType::kInt8;
  int64_t bytes = 0;
};

// A memory of the caller's beside the arena.
struct PoolMemory {
  std::string name;  // of the member of NAME_memory
  int64_t bytes = 0;
  int64_t alignment = 1;  // a power of two
};

// What a caller of the generated C must know; all of it is also in NAME.json.
struct ModelInterface {
  std::string name;  // NAME
  std::vector<Port> inputs = {};
  std::vector<Port> outputs = {};
  int64_t arena_bytes = 0;
  int64_t arena_alignment = 1;         // a power of two
  std::vector<PoolMemory> pools = {};  // if any, NAME_run takes a NAME_memory
  bool io_in_arena = false;            // --io arena: NAME_run(void *arena)
  bool reuses_inputs = false;          // --reuse-inputs: a run may change its inputs
};

// The bytes of several tensors, in the order of the model's inputs or outputs.
using Tensors = std::vector<std::vector<uint8_t>>;

// Inputs and the outputs they must give.
struct GoldenVector {
  Tensors inputs;
  Tensors outputs;
};

// The harness (build.h, Sources::harness) that runs the model on vectors from a file; run_vectors
// (validate.h) talks to it. Every caller's buffer has exactly its size, only its element's
// alignment, and guard bytes on both sides.
std::vector<OutputFile> validation_harness(const ModelInterface& model);

// NAME_test.c: a program in C99 (and C++11) that runs the model on `vectors`, which must fit its
// inputs and outputs, prints PASS or FAIL and returns 0 or 1. It needs nothing but the model,
// <stdio.h> and <string.h>. Floats may differ by 1e-5 of the largest expected magnitude.
std::string self_check_text(const ModelInterface& model, std::span<const GoldenVector> vectors);

// `text` in upper case, as the generated C's macros are made from names.
std::string upper_case(std::string_view text);

// The C type of a tensor's elements: "int8_t", "float"; bool is uint8_t, float16 its uint16_t bits.
std::string_view c_type_of(DType dtype);

}  // namespace ingot::toolchain
