// SPDX-License-Identifier: Apache-2.0
// A .tflite file whose structure can be trusted: it has passed FlatBuffers' verifier, and every
// index that the importer follows names something. Nothing else has been looked at.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "import/import.h"
#include "import/report.h"
#include "tflite_generated.h"

namespace ingot::tflite {

namespace format = tflite_format;

struct Operator {
  int64_t index = 0;  // in the file
  format::BuiltinOperator code = format::BuiltinOperator::ADD;
  std::string_view custom_code;
  std::vector<int64_t> inputs;  // indices of tensors, or -1 for inputs that are left out
  std::vector<int64_t> outputs;
  const format::Operator* table = nullptr;  // for its options
};

// Refers to the bytes it was read from.
struct Model {
  std::span<const uint8_t> bytes;
  const format::Model* table = nullptr;
  std::vector<const format::Tensor*> tensors;  // of the first subgraph
  std::vector<Operator> operators;
  std::vector<int64_t> inputs;
  std::vector<int64_t> outputs;

  std::string_view name_of(int64_t tensor) const;
  // `CONV_2D`, `CUSTOM "x"`, or `operator code 999`.
  static std::string kind_of(const Operator& op);
  // The operator for a diagnostic: `CONV_2D "name of its output" (operator 4)`.
  std::string describe(const Operator& op) const;
  // `tensor "x" (index 4)`.
  std::string describe_tensor(int64_t tensor) const;
};

// The first subgraph of the file. `bytes` must be aligned to 8 and outlive the model. Whatever is
// not acceptable is added to `report`; the model is complete if there is no error.
Model read_model(std::span<const uint8_t> bytes, const ImportLimits& limits, Report& report);

// A vector of the file that may be absent, which is the same as empty.
template <class Vector>
int64_t size_of(const Vector* vector) {
  return vector ? static_cast<int64_t>(vector->size()) : 0;
}

}  // namespace ingot::tflite
