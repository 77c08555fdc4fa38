// SPDX-License-Identifier: Apache-2.0
// What `infer` rules check again and again, each as a sentence for the user. A check returns the
// fault that it finds, or nothing.
#pragma once
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "ops/rules.h"

namespace ingot {

using Fault = std::optional<Diagnostic>;

inline Diagnostic shape_fault(std::string what) {
  return {Code::kOperatorShape, "", std::move(what), ""};
}
inline Diagnostic type_fault(std::string what) {
  return {Code::kOperatorType, "", std::move(what), ""};
}
inline Diagnostic attribute_fault(std::string what) {
  return {Code::kOperatorAttribute, "", std::move(what), ""};
}
inline Diagnostic quantization_fault(std::string what) {
  return {Code::kOperatorQuantization, "", std::move(what), ""};
}

// All of exactly `num_inputs` inputs are present, and there is one output.
Fault check_arity(Operands inputs, size_t num_inputs, std::span<const TensorType> declared);
// `type` ("the input") has one of the element types.
Fault check_dtype(const TensorType& type, std::string_view who,
                  std::initializer_list<DType> allowed);
Fault check_same_dtype(const TensorType& input, const TensorType& output);
// One scale, finite and above 0, and one zero point within the range of the element type.
Fault check_per_tensor(const TensorType& type, std::string_view who);
// The quantisation of `input` and `output` is the same, or one of them has none.
bool same_quantization(const TensorType& input, const TensorType& output);

// `declared` with `shape`, or the fault that it has more elements than int32 can count.
Result<std::vector<TensorType>> with_shape(const TensorType& declared, Shape shape);

// Every extent of `type` ("the input") is at least 1, and its elements can be counted in int32, in
// which kernels compute their indices.
Fault check_indexable(const TensorType& type, std::string_view who);

// `value` as float; what lies outside float's range becomes an infinity.
float to_float(double value);

}  // namespace ingot
