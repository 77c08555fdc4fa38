// SPDX-License-Identifier: Apache-2.0
// Tensors in files: inputs for `ingot run`, recorded vectors for `ingot validate`.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "exec/reference.h"
#include "graph/graph.h"
#include "support/result.h"
#include "toolchain/harness_text.h"

namespace ingot::cli {

// The inputs of `graph`, a file for each in model order: .npy of the input's element type and
// shape, or else its raw bytes.
Result<std::vector<TensorBytes>> read_inputs(const Graph& graph,
                                             const std::vector<std::string>& files);

// The vectors that `folder`/desc.json names, which must fit the inputs and outputs of `graph`.
Result<std::vector<toolchain::GoldenVector>> read_vectors(const Graph& graph,
                                                          const std::filesystem::path& folder);

}  // namespace ingot::cli
