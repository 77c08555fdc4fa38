// SPDX-License-Identifier: Apache-2.0
#include "driver/element_types.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>

#include "ops/rules.h"

namespace ingot {
namespace {

constexpr DType kTypes[] = {DType::kBool,   DType::kInt8,    DType::kUInt8,   DType::kInt16,
                            DType::kUInt16, DType::kInt32,   DType::kUInt32,  DType::kInt64,
                            DType::kUInt64, DType::kFloat16, DType::kFloat32, DType::kFloat64};

bool has_weights(const Op& op) {
  return std::holds_alternative<Conv2D>(op) || std::holds_alternative<DepthwiseConv2D>(op) ||
         std::holds_alternative<FullyConnected>(op);
}

int64_t num_inputs(const Op& op) {
  return has_weights(op) || std::holds_alternative<Binary>(op) ? 2 : 1;
}

// Attributes that suit a tensor of one element and `rank` dimensions.
Op with_attributes(Op op, int64_t rank) {
  const std::vector<int64_t> zeros(static_cast<size_t>(rank), 0);
  if (auto* pad = std::get_if<Pad>(&op)) {
    pad->before = zeros;
    pad->after = zeros;
  }
  if (auto* reduce = std::get_if<Reduce>(&op)) reduce->axes = {0};
  if (auto* slice = std::get_if<Slice>(&op)) {
    *slice = {zeros, Shape(zeros.size(), 1), Shape(zeros.size(), 1)};
  }
  if (auto* transpose = std::get_if<Transpose>(&op)) {
    transpose->permutation = zeros;
    std::iota(transpose->permutation.begin(), transpose->permutation.end(), 0);
  }
  if (auto* reshape = std::get_if<Reshape>(&op)) reshape->shape = Shape(zeros.size(), 1);
  return op;
}

// Some operators prescribe the quantisation of their result.
std::vector<std::optional<Quantization>> quantizations(DType dtype) {
  if (!is_integer(dtype)) return {std::nullopt};
  return {std::nullopt, per_tensor(1, 0), per_tensor(1.0F / 256, -128), per_tensor(1.0F / 128, 0)};
}

bool accepts(const Op& op, const std::vector<TensorType>& inputs, const TensorType& output) {
  std::vector<Bytes> bytes;
  for (const TensorType& type : inputs) {
    bytes.push_back(Bytes::of(std::vector<uint8_t>(static_cast<size_t>(type.size_bytes()), 0)));
  }
  std::vector<Operand> operands;
  for (size_t i = 0; i < inputs.size(); ++i) {
    operands.push_back({&inputs[i], has_weights(op) && i == 1 ? &bytes[i] : nullptr});
  }
  const OpRules& rules = rules_of(op);
  const Result<std::vector<TensorType>> types = rules.infer.call(op, operands, {&output, 1});
  return types.has_value() && std::ranges::all_of(rules.limits, [&](const Limit& limit) {
           return limit.holds(op, operands, *types);
         });
}

// Whether the operator takes x, its second input (if any) being of type `other`.
bool computes(const Op& op, DType x, DType other, DType y) {
  for (const int64_t rank : {4, 2}) {
    const Op asked = with_attributes(op, rank);
    const Shape shape(static_cast<size_t>(rank), 1);
    for (const auto& x_quantization : quantizations(x)) {
      for (const auto& y_quantization : quantizations(y)) {
        std::vector<TensorType> inputs = {{x, shape, x_quantization}};
        if (num_inputs(op) > 1) {
          const bool plain = !is_integer(other);
          inputs.push_back(
              {other, shape, plain ? std::optional<Quantization>() : per_tensor(1, 0)});
        }
        if (accepts(asked, inputs, {y, shape, y_quantization})) return true;
      }
    }
  }
  return false;
}

}  // namespace

std::vector<std::string> element_types(const Op& op) {
  std::vector<std::string> list;
  for (const DType x : kTypes) {
    for (const DType y : kTypes) {
      for (const DType other : kTypes) {
        const bool free = has_weights(op);  // the second input may be of another type
        if (!free && other != x) continue;
        if (!computes(op, x, other, y)) continue;
        std::string text(name_of(x));
        if (free && other != x) text += fmt::format(" with {} weights", name_of(other));
        if (y != x) text += fmt::format(" -> {}", name_of(y));
        list.push_back(std::move(text));
      }
    }
  }
  return list;
}

}  // namespace ingot
