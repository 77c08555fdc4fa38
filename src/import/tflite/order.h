// SPDX-License-Identifier: Apache-2.0
// Where each tensor comes from, and an order in which the operators can run.
#pragma once
#include <cstdint>
#include <vector>

#include "import/tflite/tensors.h"

namespace ingot::tflite {

// Positions in model.operators, in file order wherever dependencies allow it. Faults are added to
// `report`: tensors with several origins or none, and cycles; the order is then the file's. Tensors
// without elements that nothing writes become constants of no bytes.
std::vector<int64_t> execution_order(const Model& model, std::vector<Tensor>& tensors,
                                     Report& report);

}  // namespace ingot::tflite
