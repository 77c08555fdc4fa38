// SPDX-License-Identifier: Apache-2.0
// The tensors of a .tflite model as the graph knows them: unique names, types, constant bytes.
// Tensors that no operator and no input or output of the model refers to are not looked at.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "import/names.h"
#include "import/tflite/model.h"

namespace ingot::tflite {

struct Tensor {
  std::string name;  // unique, not empty
  // As the file states it, with open extents filled in.
  TensorType type;
  std::vector<bool> is_open;  // by dimension: the signature has -1
  bool has_shape = false;     // false where the file may just not say
  std::optional<Bytes> constant;
  // The type is one that Ingot knows and all checks have passed. Operators with other tensors are
  // not looked into, since the fault has been reported.
  bool usable = false;
};

// One for each tensor of the model. Faults are added to `report`.
std::vector<Tensor> read_tensors(const Model& model, const ImportOptions& options,
                                 UniqueNames& names, Report& report);

// What is wrong with the size of a type that no limit has been applied to; empty if nothing.
std::string find_excess(const Shape& shape, DType dtype, const ImportLimits& limits);

}  // namespace ingot::tflite
