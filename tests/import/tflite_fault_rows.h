// SPDX-License-Identifier: Apache-2.0
// A good .tflite model, and a row for each thing that can be wrong with one.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "tests/support/tflite_writer.h"

namespace ingot::testing {

// Conv, max pool, dense, reshape, mean.
// Tensors: 0 x, 1 filter, 2 bias, 3 conv, 4 pooled, 5 weights, 6 dense, 7 dims, 8 flat, 9 axes.
TfliteWriter good_model();

struct FaultRow {
  const char* title;
  std::function<void(TfliteWriter&)> change;  // made to the good model
  const char* message;                        // within the only message that must follow
};
const std::vector<FaultRow>& fault_rows();

// The parts of a model that rows and tests change.
inline format::OperatorT& operator_at(TfliteWriter& w, size_t index) {
  return *w.graph().operators.at(index);
}
template <class Options>
Options& options_at(TfliteWriter& w, size_t index) {
  return *static_cast<Options*>(operator_at(w, index).builtin_options.value);
}
// Gives the constant of that name other elements, and as many as there are.
void set_integers(TfliteWriter& w, const std::string& tensor, const std::vector<int32_t>& data);

}  // namespace ingot::testing
