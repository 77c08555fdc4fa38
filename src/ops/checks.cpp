// SPDX-License-Identifier: Apache-2.0
#include "ops/checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "support/arithmetic.h"

namespace ingot {

Fault check_arity(Operands inputs, size_t num_inputs, std::span<const TensorType> declared) {
  const bool all_present = std::ranges::all_of(inputs, &Operand::present);
  if (inputs.size() != num_inputs || !all_present) {
    return shape_fault(fmt::format("it has {} inputs, {} are needed",
                                   std::ranges::count_if(inputs, &Operand::present), num_inputs));
  }
  if (declared.size() != 1) {
    return shape_fault(fmt::format("it has {} outputs, 1 is needed", declared.size()));
  }
  return std::nullopt;
}

Fault check_dtype(const TensorType& type, std::string_view who,
                  std::initializer_list<DType> allowed) {
  if (std::ranges::find(allowed, type.dtype) != allowed.end()) return std::nullopt;
  std::string list;
  for (const DType dtype : allowed) {
    list += list.empty() ? "" : ", ";
    list += name_of(dtype);
  }
  return type_fault(fmt::format("{} is {}, supported: {}", who, name_of(type.dtype), list));
}

Fault check_same_dtype(const TensorType& input, const TensorType& output) {
  if (input.dtype == output.dtype) return std::nullopt;
  return type_fault(fmt::format("the input is {} and the output {}, they must be equal",
                                name_of(input.dtype), name_of(output.dtype)));
}

Fault check_per_tensor(const TensorType& type, std::string_view who) {
  if (!type.quantization) {
    return quantization_fault(fmt::format("{} has no quantisation parameters", who));
  }
  const Quantization& q = *type.quantization;
  if (!q.per_tensor() || q.scales.size() != 1 || q.zero_points.size() != 1) {
    return quantization_fault(fmt::format("{} is quantised per channel, one scale is needed", who));
  }
  if (!std::isfinite(q.scale()) || q.scale() <= 0) {
    return quantization_fault(
        fmt::format("{} has scale {}, a finite one above 0 is needed", who, q.scale()));
  }
  if (q.zero_point() < lowest(type.dtype) || q.zero_point() > highest(type.dtype)) {
    return quantization_fault(fmt::format("{} has zero point {}, which is outside {}", who,
                                          q.zero_point(), name_of(type.dtype)));
  }
  return std::nullopt;
}

bool same_quantization(const TensorType& input, const TensorType& output) {
  return !input.quantization || !output.quantization || input.quantization == output.quantization;
}

Result<std::vector<TensorType>> with_shape(const TensorType& declared, Shape shape) {
  const std::optional<int64_t> count = checked_product(shape);
  if (!count || *count > std::numeric_limits<int32_t>::max()) {
    return shape_fault(fmt::format(
        "the output has shape {}, at most 2147483647 elements are supported", print(shape)));
  }
  TensorType type = declared;
  type.shape = std::move(shape);
  return std::vector<TensorType>{std::move(type)};
}

Fault check_indexable(const TensorType& type, std::string_view who) {
  const std::optional<int64_t> count = checked_product(type.shape);
  if (std::ranges::any_of(type.shape, [](int64_t extent) { return extent < 1; })) {
    return shape_fault(
        fmt::format("{} has shape {}, every extent must be at least 1", who, print(type.shape)));
  }
  if (!count || *count > std::numeric_limits<int32_t>::max()) {
    return shape_fault(fmt::format("{} has shape {}, at most 2147483647 elements are supported",
                                   who, print(type.shape)));
  }
  return std::nullopt;
}

float to_float(double value) {
  constexpr auto kMax = static_cast<double>(std::numeric_limits<float>::max());
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  if (value > kMax) return kInfinity;
  return value < -kMax ? -kInfinity : static_cast<float>(value);
}

}  // namespace ingot
