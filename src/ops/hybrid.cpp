// SPDX-License-Identifier: Apache-2.0
#include "ops/hybrid.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "ops/access.h"
#include "ops/round.h"
#include "support/check.h"

namespace ingot {

using loop::BinaryOp;
using loop::Block;
using loop::Expr;
using loop::float_lit;
using loop::Let;
using loop::lit;
using loop::var;

namespace {

constexpr double kHighest = 127;
constexpr double kLowest = -128;
constexpr double kSteps = kHighest - kLowest;

Expr divide(Expr a, Expr b) { return loop::binary(BinaryOp::kDiv, std::move(a), std::move(b)); }
Expr is_zero(const Expr& a) { return loop::binary(BinaryOp::kEq, a, float_lit(0, a->type)); }
Expr absolute(Expr a) { return loop::unary(loop::UnaryOp::kAbs, std::move(a)); }
Expr real64(double value) { return float_lit(value, loop::kFloat64); }

// The first operand stands where one is not a number.
Expr clamped(Expr a, double low, double high) {
  const loop::Type type = a->type;
  return loop::min(loop::max(std::move(a), float_lit(low, type)), float_lit(high, type));
}

}  // namespace

QuantizedRow::QuantizedRow(Lowering& lowering, std::string x, const InputRows& rows)
    : lowering_(lowering),
      x_(std::move(x)),
      rows_(rows),
      q_(lowering.scratch("q", DType::kInt8, rows.num_elements)),
      i_(lowering.fresh("i")),
      scale_(lowering.fresh("scale")),
      inverse_(lowering.fresh("inverse")),
      zero_point_(lowering.fresh("zero_point")) {
  lowering_.use(round_function(loop::kFloat32));
  if (rows_.asymmetric) lowering_.use(round_function(loop::kFloat64));
}

Expr QuantizedRow::element(const Expr& first) const {
  return Lowering::load(x_, DType::kFloat32, first + var(i_));
}

Block QuantizedRow::over_row(Block body) const {
  return {loop::For{i_, lit(0), lit(rows_.num_elements), 1, false, std::move(body)}};
}

Block QuantizedRow::symmetric_range(const Expr& first) const {
  const std::string name = lowering_.fresh("range");
  const Expr range = var(name, loop::kFloat32);
  Block block = {Let{name, float_lit(0)}};
  Block loop = over_row({loop::Assign{name, loop::max(range, absolute(element(first)))}});
  block.push_back(std::move(loop.front()));
  // A row of zeros has scale 1.
  block.push_back(loop::Assign{name, loop::select(is_zero(range), float_lit(kHighest), range)});
  block.push_back(Let{scale_, divide(range, float_lit(kHighest))});
  block.push_back(Let{inverse_, divide(float_lit(kHighest), range)});
  return block;
}

Block QuantizedRow::asymmetric_range(const Expr& first) const {
  const std::string low_name = lowering_.fresh("low");
  const std::string high_name = lowering_.fresh("high");
  const Expr low = var(low_name, loop::kFloat32);
  const Expr high = var(high_name, loop::kFloat32);
  Block block = {Let{low_name, float_lit(0)}, Let{high_name, float_lit(0)}};
  Block loop = over_row({loop::Assign{low_name, loop::min(low, element(first))},
                         loop::Assign{high_name, loop::max(high, element(first))}});
  block.push_back(std::move(loop.front()));
  const auto name = [&](const char* wanted, Expr value) {
    const std::string unique = lowering_.fresh(wanted);
    const loop::Type type = value->type;
    block.push_back(Let{unique, std::move(value)});
    return var(unique, type);
  };
  const auto wide = [](const Expr& e) { return loop::cast(loop::kFloat64, e); };
  const Expr range = name("range", wide(high) - wide(low));
  const Expr step =
      name("step", loop::select(is_zero(range), real64(1), divide(range, real64(kSteps))));
  const Expr below = name("below", divide(wide(low), step));
  const Expr above = name("above", divide(wide(high), step));
  const Expr from_low =
      loop::less(real64(-kLowest) + absolute(below), real64(kHighest) + absolute(above));
  const Expr exact =
      name("exact", loop::select(from_low, real64(kLowest) - below, real64(kHighest) - above));
  const Expr rounded =
      loop::call("round_double_to_int", loop::kInt32, {clamped(exact, kLowest, kHighest)});
  block.push_back(Let{zero_point_, loop::select(is_zero(range), lit(0), rounded)});
  block.push_back(Let{scale_, loop::cast(loop::kFloat32, step)});
  block.push_back(Let{inverse_, divide(float_lit(1), scale())});
  return block;
}

Block QuantizedRow::quantize(const Expr& first) const {
  Block block = rows_.asymmetric ? asymmetric_range(first) : symmetric_range(first);
  Expr value = element(first) * var(inverse_, loop::kFloat32);
  if (rows_.asymmetric) value = loop::cast(loop::kFloat32, var(zero_point_)) + value;
  // Saturation comes before the conversion, so that no float is out of the integer's range.
  Expr q =
      loop::call("round_to_int", loop::kInt32,
                 {clamped(std::move(value), rows_.asymmetric ? kLowest : -kHighest, kHighest)});
  Block loop =
      over_row({loop::Store{q_, var(i_), loop::cast(loop::kInt8, std::move(q)), /*alignment=*/1}});
  block.push_back(std::move(loop.front()));
  return block;
}

Expr QuantizedRow::centred(const Expr& index) const {
  const Expr q = Lowering::load(q_, DType::kInt8, index);
  return rows_.asymmetric ? q - var(zero_point_) : q;
}

Expr QuantizedRow::scaled(const Expr& sum, const Expr& weight_scale) const {
  const Expr real = loop::cast(loop::kFloat32, sum);
  switch (rows_.order) {
    case ScaleOrder::kProduct:
      return real * (scale() * weight_scale);
    case ScaleOrder::kInputFirst:
      return real * scale() * weight_scale;
    case ScaleOrder::kWeightsFirst:
      return real * weight_scale * scale();
  }
  CHECK(false);
  return real;
}

namespace reference {
namespace {

// An element of the row on its scale; what is not a number becomes 0.
int64_t quantized(float scaled, float least) {
  if (std::isnan(scaled)) return 0;
  return std::lround(std::min(std::max(scaled, least), 127.0F));
}

void quantize_symmetric(const std::vector<float>& row, QuantizedRows& rows) {
  float greatest = 0;
  for (const float x : row) {
    if (std::fabs(x) > greatest) greatest = std::fabs(x);
  }
  rows.scales.push_back(greatest == 0 ? 1.0F : greatest / 127.0F);
  for (const float x : row) {
    rows.centred.push_back(greatest == 0 ? 0 : quantized(x * (127.0F / greatest), -127.0F));
  }
}

void quantize_asymmetric(const std::vector<float>& row, QuantizedRows& rows) {
  double low = 0;
  double high = 0;
  for (const float x : row) {
    if (double{x} < low) low = double{x};
    if (double{x} > high) high = double{x};
  }
  if (low == high) {
    rows.scales.push_back(1);
    rows.centred.insert(rows.centred.end(), row.size(), 0);
    return;
  }
  const double step = (high - low) / 255;
  const double zero_at_low = -128 - low / step;
  const double zero_at_high = 127 - high / step;
  const bool low_is_nearer = 128 + std::abs(low / step) < 127 + std::abs(high / step);
  const double exact = low_is_nearer ? zero_at_low : zero_at_high;
  int64_t zero_point = 0;
  if (exact <= -128) {
    zero_point = -128;
  } else if (exact >= 127) {
    zero_point = 127;
  } else if (!std::isnan(exact)) {
    zero_point = std::lround(exact);
  }
  const auto scale = static_cast<float>(step);
  rows.scales.push_back(scale);
  for (const float x : row) {
    const float scaled = static_cast<float>(zero_point) + x * (1.0F / scale);
    rows.centred.push_back(quantized(scaled, -128.0F) - zero_point);
  }
}

}  // namespace

float QuantizedRows::scaled(int64_t sum, int64_t row, float weight_scale) const {
  const float input_scale = scales.at(static_cast<size_t>(row));
  float scaled = static_cast<float>(sum);
  if (order == ScaleOrder::kProduct) return scaled * (input_scale * weight_scale);
  scaled *= order == ScaleOrder::kInputFirst ? input_scale : weight_scale;
  scaled *= order == ScaleOrder::kInputFirst ? weight_scale : input_scale;
  return scaled;
}

QuantizedRows quantize_rows(const TensorView& x, const InputRows& rows) {
  QuantizedRows result;
  result.order = rows.order;
  const int64_t count = x.type->num_elements();
  for (int64_t first = 0; first < count; first += rows.num_elements) {
    std::vector<float> row;
    for (int64_t i = 0; i < rows.num_elements; ++i) row.push_back(float_at(x, first + i));
    if (rows.asymmetric) {
      quantize_asymmetric(row, result);
    } else {
      quantize_symmetric(row, result);
    }
  }
  return result;
}

}  // namespace reference
}  // namespace ingot
