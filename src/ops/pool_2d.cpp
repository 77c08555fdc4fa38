// SPDX-License-Identifier: Apache-2.0
// Average and maximum pooling. Both see only the window's cells inside the image. The average of
// integers is the sum divided by the number of cells, rounded half away from zero; there is no
// rescaling, so input and output are on one scale.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "ops/access.h"
#include "ops/window.h"

namespace ingot {
namespace {

using loop::Expr;
using loop::lit;

constexpr auto kLowestFloat = std::numeric_limits<float>::lowest();

Windows windows_of(const Pool2D& pool, const TensorType& x) {
  const Padding& p = pool.padding;
  return {{x.shape[1], pool.kernel_h, pool.stride_h, 1, p.top, p.bottom},
          {x.shape[2], pool.kernel_w, pool.stride_w, 1, p.left, p.right}};
}

Fault check(const Pool2D& pool, Operands inputs, std::span<const TensorType> declared) {
  if (Fault fault = check_arity(inputs, 1, declared)) return fault;
  const TensorType& x = *inputs[0].type;
  if (x.rank() != 4) {
    return shape_fault(fmt::format("the input is {}, 4 dimensions are needed", print(x.shape)));
  }
  if (Fault fault = check_indexable(x, "the input")) return fault;
  if (Fault fault = check_dtype(x, "the input",
                                {DType::kInt8, DType::kUInt8, DType::kInt16, DType::kFloat32})) {
    return fault;
  }
  if (Fault fault = check_same_dtype(x, declared[0])) return fault;
  if (Fault fault = check_windows(windows_of(pool, x))) return fault;
  const Padding& p = pool.padding;
  // Then every window has a cell inside the image.
  if (std::max(p.top, p.bottom) >= pool.kernel_h || std::max(p.left, p.right) >= pool.kernel_w) {
    return attribute_fault(fmt::format(
        "the padding ({} top, {} bottom, {} left, {} right) is not smaller than the {}x{} kernel",
        p.top, p.bottom, p.left, p.right, pool.kernel_h, pool.kernel_w));
  }
  return std::nullopt;
}

Result<std::vector<TensorType>> infer(const Op& op, Operands inputs,
                                      std::span<const TensorType> declared) {
  const auto& pool = std::get<Pool2D>(op);
  if (Fault fault = check(pool, inputs, declared)) return *fault;
  const Shape& x = inputs[0].type->shape;
  const Windows windows = windows_of(pool, *inputs[0].type);
  TensorType y = declared[0];
  y.shape = {x[0], windows.y.num_positions(), windows.x.num_positions(), x[3]};
  if (Fault fault = check_indexable(y, "the output")) return *fault;
  return std::vector<TensorType>{std::move(y)};
}

// The indices of the cells of x inside the window of output cell (n, oy, ox, c).
std::vector<int64_t> cells_of_window(const Pool2D& pool, const Shape& x, int64_t n, int64_t oy,
                                     int64_t ox, int64_t c) {
  std::vector<int64_t> cells;
  for (int64_t ky = 0; ky < pool.kernel_h; ++ky) {
    const int64_t iy = oy * pool.stride_h + ky - pool.padding.top;
    for (int64_t kx = 0; kx < pool.kernel_w; ++kx) {
      const int64_t ix = ox * pool.stride_w + kx - pool.padding.left;
      if (iy < 0 || iy >= x[1] || ix < 0 || ix >= x[2]) continue;
      cells.push_back(((n * x[1] + iy) * x[2] + ix) * x[3] + c);
    }
  }
  return cells;
}

int64_t integer_result(Pool2D::Kind kind, const TensorView& x, const std::vector<int64_t>& cells) {
  if (kind == Pool2D::Kind::kMax) {
    int64_t largest = int_at(x, cells.front());
    for (const int64_t cell : cells) largest = std::max(largest, int_at(x, cell));
    return largest;
  }
  int64_t sum = 0;
  for (const int64_t cell : cells) sum += int_at(x, cell);
  const auto count = static_cast<int64_t>(cells.size());
  return (sum > 0 ? sum + count / 2 : sum - count / 2) / count;
}

float float_result(Pool2D::Kind kind, const TensorView& x, const std::vector<int64_t>& cells) {
  if (kind == Pool2D::Kind::kMax) {
    float largest = kLowestFloat;
    for (const int64_t cell : cells) largest = std::max(largest, float_at(x, cell));
    return largest;
  }
  float sum = 0;
  for (const int64_t cell : cells) sum += float_at(x, cell);
  return sum / static_cast<float>(cells.size());
}

void reference_rule(const Op& op, std::span<const TensorView> inputs,
                    std::span<const MutableTensorView> outputs, Rounding /*rounding*/) {
  const auto& pool = std::get<Pool2D>(op);
  const TensorView& x = inputs[0];
  const Shape& y = outputs[0].type->shape;
  int64_t y_index = 0;
  for (int64_t n = 0; n < y[0]; ++n) {
    for (int64_t oy = 0; oy < y[1]; ++oy) {
      for (int64_t ox = 0; ox < y[2]; ++ox) {
        for (int64_t c = 0; c < y[3]; ++c, ++y_index) {
          const std::vector<int64_t> cells = cells_of_window(pool, x.type->shape, n, oy, ox, c);
          if (is_float(x.type->dtype)) {
            set_float(outputs[0], y_index, float_result(pool.kind, x, cells));
          } else {
            set_int(outputs[0], y_index, integer_result(pool.kind, x, cells));
          }
        }
      }
    }
  }
}

// The accumulator's first value.
Expr first_value(Pool2D::Kind kind, DType dtype) {
  const bool is_max = kind == Pool2D::Kind::kMax;
  if (is_float(dtype)) return loop::float_lit(is_max ? double{kLowestFloat} : 0);
  return lit(is_max ? lowest(dtype) : 0);
}

// sum / count, integers rounded half away from zero.
Expr average(const Expr& sum, const Expr& count, DType dtype) {
  if (is_float(dtype)) {
    return loop::binary(loop::BinaryOp::kDiv, sum, loop::cast(loop::kFloat32, count));
  }
  const Expr half = loop::shr(count, 1);
  const Expr nudged = loop::select(loop::less(lit(0), sum), sum + half, sum - half);
  return loop::binary(loop::BinaryOp::kDiv, nudged, count);
}

void lower(Lowering& lowering) {
  const auto& pool = lowering.op<Pool2D>();
  const TensorType& x_type = lowering.input_type(0);
  const Shape& x = x_type.shape;
  const Shape& y = lowering.output_type().shape;
  const Windows windows = windows_of(pool, x_type);
  const std::string param = lowering.input(0, "x");
  const std::string name = lowering.fresh("acc");

  const Axis n = axis(lowering, "n", y[0]);
  const Axis oy = axis(lowering, "oy", y[1]);
  const Axis ox = axis(lowering, "ox", y[2]);
  const Axis c = axis(lowering, "c", y[3]);
  const Axis ky = taps(lowering, "ky", windows.y, oy.index);
  const Axis kx = taps(lowering, "kx", windows.x, ox.index);

  const Expr row = n.index * x[1] + cell_of(windows.y, oy.index, ky.index);
  const Expr cell = row * x[2] + cell_of(windows.x, ox.index, kx.index);
  const Expr y_index = ((n.index * y[1] + oy.index) * y[2] + ox.index) * y[3] + c.index;
  const Expr element = Lowering::load(param, x_type.dtype, cell * x[3] + c.index);
  const Expr first = first_value(pool.kind, x_type.dtype);
  const Expr acc = loop::var(name, first->type);
  const bool is_max = pool.kind == Pool2D::Kind::kMax;
  const loop::Block step = {loop::Assign{name, is_max ? loop::max(acc, element) : acc + element}};

  loop::Block pixel = {loop::Let{name, first}};
  for (loop::Stmt& stmt : over(ky, over(kx, step))) pixel.push_back(std::move(stmt));
  loop::Block before;  // what all channels of a pixel share
  Expr value = acc;
  if (!is_max) {
    Expr count = (ky.end - ky.begin) * (kx.end - kx.begin);
    if (!loop::as<loop::IntLit>(count)) {
      const std::string count_name = lowering.fresh("count");
      before.push_back(loop::Let{count_name, count});
      count = loop::var(count_name);
    }
    const std::string average_name = lowering.fresh("mean");
    pixel.push_back(loop::Let{average_name, average(acc, count, x_type.dtype)});
    value = loop::var(average_name, first->type);
  }
  for (loop::Stmt& stmt : lowering.store(y_index, value)) pixel.push_back(std::move(stmt));
  for (loop::Stmt& stmt : over(c, std::move(pixel))) before.push_back(std::move(stmt));
  lowering.body = over(n, over(oy, over(ox, std::move(before))));
  lowering.comment = fmt::format("{} pooling {}x{} {} -> {}", is_max ? "max" : "average",
                                 pool.kernel_h, pool.kernel_w, print(x), print(y));
}

bool scales_are_equal(const Op& /*op*/, Operands inputs, std::span<const TensorType> outputs) {
  return inputs[0].type->quantization == outputs[0].quantization;
}

bool sums_fit(const Op& op, Operands inputs, std::span<const TensorType> /*outputs*/) {
  const auto& pool = std::get<Pool2D>(op);
  const DType dtype = inputs[0].type->dtype;
  if (pool.kind == Pool2D::Kind::kMax || is_float(dtype)) return true;
  const Shape& x = inputs[0].type->shape;
  // Half the count is added before the division, hence the additional 1.
  const int64_t cells = std::min(pool.kernel_h, x[1]) * std::min(pool.kernel_w, x[2]);
  const int64_t largest = std::max(highest(dtype), -lowest(dtype)) + 1;
  return cells <= std::numeric_limits<int32_t>::max() / largest;
}

constexpr Limit kLimits[] = {
    {"input and output have equal scales and zero points", scales_are_equal},
    {"the sum of a window fits in int32", sums_fit},
};

}  // namespace

constinit const OpRules Pool2D::rules = {
    .infer = infer, .limits = kLimits, .reference = reference_rule, .lower = lower};

}  // namespace ingot
