// SPDX-License-Identifier: Apache-2.0
#include "ops/table.h"

#include "ops/access.h"
#include "support/check.h"

namespace ingot {

Bytes table_of(const Op& op, const TensorType& x, const TensorType& y, Rounding rounding) {
  constexpr int64_t kNumValues = 256;
  CHECK(size_in_bytes(x.dtype) == 1 && size_in_bytes(y.dtype) == 1);
  TensorType from = x;
  TensorType to = y;
  from.shape = {kNumValues};
  to.shape = {kNumValues};
  std::vector<uint8_t> values(kNumValues);
  std::vector<uint8_t> results(kNumValues);
  for (int64_t i = 0; i < kNumValues; ++i) {
    values[static_cast<size_t>(i)] = static_cast<uint8_t>(lowest(x.dtype) + i);
  }
  const TensorView input = {&from, values};
  const MutableTensorView output = {&to, results};
  rules_of(op).reference.call(op, {&input, 1}, {&output, 1}, rounding);
  return Bytes(std::move(results));
}

bool is_loaded(const loop::Expr& element) {
  const auto* cast = loop::as<loop::Cast>(element);
  return loop::as<loop::Load>(cast ? cast->a : element) != nullptr;
}

loop::Expr index_of_byte(const loop::Expr& element, int64_t low) {
  // What is loaded is of its type to who proves bounds. Of what was computed (a quotient, what a
  // function returned) only we know; where a compiler sees it too, the mask costs nothing.
  const loop::Expr index = element - low;
  return is_loaded(element) ? index : loop::binary(loop::BinaryOp::kAnd, index, loop::lit(255));
}

loop::Expr look_up(Lowering& lowering, const Bytes& table, const loop::Expr& element,
                   const TensorType& x, const TensorType& y) {
  const std::string param = lowering.constant("table", y.dtype, table);
  return Lowering::load(param, y.dtype, index_of_byte(element, lowest(x.dtype)));
}

}  // namespace ingot
