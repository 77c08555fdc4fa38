// SPDX-License-Identifier: Apache-2.0
// Inputs made from a seed, and the outputs that the reference executor gives for them.
#pragma once
#include <cstdint>
#include <vector>

#include "driver/compile.h"
#include "exec/reference.h"

namespace ingot {

// Inputs of `graph`: integers over their whole range, floats in [-1, 1), a function of `seed` and
// `index` alone.
std::vector<TensorBytes> random_inputs(const Graph& graph, uint64_t seed, int64_t index);

// `count` vectors of random inputs with their reference outputs.
std::vector<toolchain::GoldenVector> random_vectors(const Graph& graph, Rounding rounding,
                                                    uint64_t seed, int64_t count);

// test/NAME_test.c for a compiled model.
OutputFile self_check_file(const Compiled& compiled, const CompileOptions& options, int64_t count,
                           uint64_t seed);

}  // namespace ingot
