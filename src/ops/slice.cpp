// SPDX-License-Identifier: Apache-2.0
// slice: every stride-th element from a first one on. Slices whose elements lie one behind the
// other in memory are no kernel at all (lower/places.h).
#include <fmt/format.h>

#include "ops/checks.h"
#include "ops/strided.h"
#include "support/arithmetic.h"

namespace ingot {
namespace {

// Whether the elements of one dimension lie within an extent.
bool is_inside(int64_t begin, int64_t size, int64_t stride, int64_t extent) {
  if (begin < 0 || begin >= extent) return false;
  const std::optional<int64_t> reach = checked_mul(size - 1, stride);
  const std::optional<int64_t> last = reach ? checked_add(begin, *reach) : std::nullopt;
  return last && *last >= 0 && *last < extent;
}

Result<std::vector<TensorType>> infer(const Op& op, Operands inputs,
                                      std::span<const TensorType> declared) {
  const Slice& slice = std::get<Slice>(op);
  if (Fault fault = check_arity(inputs, 1, declared)) return *fault;
  const TensorType& x = *inputs[0].type;
  if (Fault fault = check_same_dtype(x, declared[0])) return *fault;
  if (Fault fault = check_indexable(x, "the input")) return *fault;
  const size_t rank = x.shape.size();
  if (slice.begin.size() != rank || slice.size.size() != rank || slice.strides.size() != rank) {
    return attribute_fault(fmt::format("it begins at {}, takes {} and steps by {}, for rank {}",
                                       print(slice.begin), print(slice.size), print(slice.strides),
                                       rank));
  }
  for (size_t d = 0; d < rank; ++d) {
    if (slice.strides[d] == 0) return attribute_fault(fmt::format("its stride {} is 0", d));
    if (slice.size[d] < 1) {
      return attribute_fault(
          fmt::format("it takes {} elements of dimension {}, at least 1 is "
                      "needed",
                      slice.size[d], d));
    }
    if (!is_inside(slice.begin[d], slice.size[d], slice.strides[d], x.shape[d])) {
      return attribute_fault(
          fmt::format("it takes {} elements of dimension {} from {} on in steps "
                      "of {}, of {}",
                      slice.size[d], d, slice.begin[d], slice.strides[d], x.shape[d]));
    }
  }
  return with_shape(declared[0], slice.size);
}

void reference_rule(const Op& op, std::span<const TensorView> inputs,
                    std::span<const MutableTensorView> outputs, Rounding /*rounding*/) {
  const Slice& slice = std::get<Slice>(op);
  const Shape& in = inputs[0].type->shape;
  for (int64_t i = 0; i < outputs[0].type->num_elements(); ++i) {
    // The output's index, digit by digit from the last dimension.
    int64_t rest = i;
    int64_t from = 0;
    int64_t elements = 1;
    for (size_t d = in.size(); d-- > 0;) {
      from += (slice.begin[d] + rest % slice.size[d] * slice.strides[d]) * elements;
      rest /= slice.size[d];
      elements *= in[d];
    }
    copy_element(inputs[0], from, outputs[0], i);
  }
}

void lower(Lowering& lowering) {
  const Slice& slice = lowering.op<Slice>();
  const std::vector<int64_t> strides = strides_of(lowering.input_type(0).shape);
  int64_t first = 0;
  std::vector<StridedDim> dims;
  for (size_t d = 0; d < strides.size(); ++d) {
    first += slice.begin[d] * strides[d];
    dims.push_back({slice.size[d], slice.strides[d] * strides[d]});
  }
  lower_strided(lowering, first, dims);
}

}  // namespace

constinit const OpRules Slice::rules = {
    .infer = infer, .limits = kMovesElements, .reference = reference_rule, .lower = lower};

}  // namespace ingot
