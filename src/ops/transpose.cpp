// SPDX-License-Identifier: Apache-2.0
// transpose: the dimensions of a tensor in another order.
#include <fmt/format.h>

#include <algorithm>

#include "ops/checks.h"
#include "ops/strided.h"

namespace ingot {
namespace {

bool is_permutation_of(const std::vector<int64_t>& permutation, int64_t rank) {
  std::vector<int64_t> sorted = permutation;
  std::ranges::sort(sorted);
  for (int64_t d = 0; d < rank; ++d) {
    if (d >= std::ssize(sorted) || sorted[static_cast<size_t>(d)] != d) return false;
  }
  return std::ssize(sorted) == rank;
}

Result<std::vector<TensorType>> infer(const Op& op, Operands inputs,
                                      std::span<const TensorType> declared) {
  const Transpose& transpose = std::get<Transpose>(op);
  if (Fault fault = check_arity(inputs, 1, declared)) return *fault;
  const TensorType& x = *inputs[0].type;
  if (Fault fault = check_same_dtype(x, declared[0])) return *fault;
  if (Fault fault = check_indexable(x, "the input")) return *fault;
  if (!is_permutation_of(transpose.permutation, x.rank())) {
    return attribute_fault(fmt::format("{} is no order of the {} dimensions of the input",
                                       print(transpose.permutation), x.rank()));
  }
  Shape shape;
  for (const int64_t d : transpose.permutation) shape.push_back(x.shape[static_cast<size_t>(d)]);
  return with_shape(declared[0], std::move(shape));
}

// Goes through the input: its element with index (i0, i1 ...) is the output's with (ip0, ip1 ...).
void reference_rule(const Op& op, std::span<const TensorView> inputs,
                    std::span<const MutableTensorView> outputs, Rounding /*rounding*/) {
  const std::vector<int64_t>& permutation = std::get<Transpose>(op).permutation;
  const Shape& in = inputs[0].type->shape;
  std::vector<int64_t> index(in.size(), 0);
  for (int64_t from = 0; from < inputs[0].type->num_elements(); ++from) {
    int64_t to = 0;
    for (const int64_t d : permutation) {
      to = to * in[static_cast<size_t>(d)] + index[static_cast<size_t>(d)];
    }
    copy_element(inputs[0], from, outputs[0], to);
    for (size_t d = in.size(); d-- > 0;) {
      if (++index[d] < in[d]) break;
      index[d] = 0;
    }
  }
}

void lower(Lowering& lowering) {
  const Shape& in = lowering.input_type(0).shape;
  const std::vector<int64_t> strides = strides_of(in);
  std::vector<StridedDim> dims;
  for (const int64_t d : lowering.op<Transpose>().permutation) {
    dims.push_back({in[static_cast<size_t>(d)], strides[static_cast<size_t>(d)]});
  }
  lower_strided(lowering, 0, dims);
}

}  // namespace

constinit const OpRules Transpose::rules = {
    .infer = infer, .limits = kMovesElements, .reference = reference_rule, .lower = lower};

}  // namespace ingot
