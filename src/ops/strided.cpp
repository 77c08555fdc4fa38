// SPDX-License-Identifier: Apache-2.0
#include "ops/strided.h"

#include <cstring>
#include <utility>

#include "ops/checks.h"

namespace ingot {
namespace {

// Without dimensions of one element, and with neighbours joined that one loop can go through.
std::vector<StridedDim> joined(const std::vector<StridedDim>& dims) {
  std::vector<StridedDim> result;
  for (const StridedDim& dim : dims) {
    if (dim.extent == 1) continue;
    if (!result.empty() && result.back().stride == dim.stride * dim.extent) {
      result.back() = {result.back().extent * dim.extent, dim.stride};
    } else {
      result.push_back(dim);
    }
  }
  return result;
}

}  // namespace

void lower_strided(Lowering& lowering, int64_t first, const std::vector<StridedDim>& dims) {
  const std::string x = lowering.input(0, "x");
  loop::Expr from = loop::lit(first);
  loop::Expr to = loop::lit(0);
  std::vector<std::pair<std::string, int64_t>> loops;
  for (const StridedDim& dim : joined(dims)) {
    const std::string i = lowering.fresh("i");
    from = from + loop::var(i) * dim.stride;
    to = to * dim.extent + loop::var(i);
    loops.emplace_back(i, dim.extent);
  }
  loop::Block body = lowering.store(to, Lowering::load(x, lowering.input_type(0).dtype, from));
  for (; !loops.empty(); loops.pop_back()) {
    const auto& [i, extent] = loops.back();
    loop::Block outer;
    outer.push_back(loop::For{i, loop::lit(0), loop::lit(extent), 1, false, std::move(body)});
    body = std::move(outer);
  }
  lowering.body = std::move(body);
}

std::vector<int64_t> strides_of(const Shape& shape) {
  std::vector<int64_t> strides(shape.size(), 1);
  for (size_t d = shape.size(); d-- > 1;) strides[d - 1] = strides[d] * shape[d];
  return strides;
}

void copy_element(const TensorView& x, int64_t from, const MutableTensorView& y, int64_t to) {
  const auto size = static_cast<size_t>(size_in_bytes(x.type->dtype));
  std::memcpy(y.bytes.data() + static_cast<size_t>(to) * size,
              x.bytes.data() + static_cast<size_t>(from) * size, size);
}

constinit const Limit kMovesElements[1] = {
    {"input and output have the same scale and zero point",
     [](const Op& /*op*/, Operands inputs, std::span<const TensorType> outputs) {
       return inputs[0].type->quantization == outputs[0].quantization;
     }}};

}  // namespace ingot
