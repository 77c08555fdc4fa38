// SPDX-License-Identifier: Apache-2.0
#include "tests/support/element_cases.h"

#include <algorithm>

#include "tests/support/random.h"
#include "tests/support/types.h"

namespace ingot::testing {
namespace {

constexpr Rounding kRoundings[] = {Rounding::kDouble, Rounding::kSingle, Rounding::kFloat};

Shape random_shape(Random& random, int64_t rank) {
  Shape shape;
  for (int64_t d = 0; d < rank; ++d) shape.push_back(random.integer(1, 4));
  return shape;
}

float random_scale(Random& random) { return random.real(0.01F, 1.0F); }

// int8, uint8 or int16 (whose zero point is 0) on a scale of its own.
TensorType random_quantized(Random& random, DType dtype, Shape shape) {
  const bool is_wide = dtype == DType::kInt16;
  const int64_t zero_point = is_wide ? 0 : random.integer(lowest(dtype), highest(dtype));
  return {dtype, std::move(shape), per_tensor(random_scale(random), zero_point)};
}

// The same type, or float32.
TensorType random_type(Random& random, Shape shape) {
  const auto dtype = random.pick<DType>(
      {DType::kInt8, DType::kInt8, DType::kUInt8, DType::kInt16, DType::kFloat32});
  if (dtype == DType::kFloat32) return float_type(std::move(shape));
  return random_quantized(random, dtype, std::move(shape));
}

TensorType rescaled(Random& random, const TensorType& type) {
  return type.is_quantized() ? random_quantized(random, type.dtype, {}) : type;
}

// A shape that broadcasts to `shape`: some extents 1, some leading ones left out.
Shape broadcastable(Random& random, const Shape& shape) {
  Shape result = shape;
  for (int64_t& extent : result) {
    if (random.chance(1, 3)) extent = 1;
  }
  const auto leading = std::ranges::find_if(result, [](int64_t extent) { return extent != 1; });
  if (random.chance(1, 2)) result.erase(result.begin(), leading);
  return result;
}

OneNode one_input(Random& random, Op op, TensorType x, TensorType y,
                  Rounding rounding = Rounding::kDouble) {
  return with_data(
      {std::move(op), {random_input(std::move(x))}, {std::move(y)}, rounding, random.next()});
}

}  // namespace

std::vector<OneNode> binary_cases() {
  Random random(61);
  std::vector<OneNode> cases;
  for (int64_t n = 0; n < 600; ++n) {
    const Shape shape = random_shape(random, n % 5);
    const TensorType x = random_type(random, broadcastable(random, shape));
    TensorType z = rescaled(random, x);
    z.shape = broadcastable(random, shape);
    const auto kind =
        random.pick<Binary::Kind>({Binary::Kind::kAdd, Binary::Kind::kSub, Binary::Kind::kMul});
    cases.push_back(with_data({Binary{kind},
                               {random_input(x), random_input(z)},
                               {rescaled(random, x)},
                               kRoundings[n % 3],
                               random.next()}));
  }
  return cases;
}

std::vector<OneNode> elementwise_cases() {
  Random random(62);
  std::vector<OneNode> cases;
  for (int64_t n = 0; n < 100; ++n) {
    const Shape shape = random_shape(random, n % 5);
    const Rounding rounding = kRoundings[n % 3];
    const TensorType x = random_type(random, shape);
    const auto kind = random.pick<Unary::Kind>({Unary::Kind::kLogistic, Unary::Kind::kTanh});
    const TensorType unit =
        kind == Unary::Kind::kTanh ? int8_type({}, 1.0F / 128) : int8_type({}, 1.0F / 256, -128);
    const TensorType small = random_quantized(random, DType::kInt8, shape);
    cases.push_back(one_input(random, Unary{kind}, small, unit));
    cases.push_back(one_input(random, Unary{kind}, float_type(shape), float_type({})));
    const auto low = static_cast<double>(random.integer(-200, 50));
    const double high = low + static_cast<double>(random.integer(0, 200));
    cases.push_back(one_input(random, Clamp{low, high}, x, x));
    cases.push_back(
        one_input(random, Clamp{low / 100, high / 100}, float_type(shape), float_type({})));
    const auto dtypes = {DType::kInt8, DType::kUInt8, DType::kInt16, DType::kInt32};
    TensorType from = random_quantized(random, DType::kInt8, shape);
    from.dtype = random.pick<DType>(dtypes);
    from.quantization->zero_points = {random.integer(0, 100)};
    TensorType to = from;
    to.dtype = random.pick<DType>(dtypes);
    to.quantization =
        per_tensor(n % 4 == 0 ? from.scale() : random_scale(random), random.integer(0, 100));
    cases.push_back(one_input(random, Requantize{n % 2 == 0}, from, to, rounding));
    cases.push_back(one_input(random, Dequantize{}, from, float_type({})));
    if (to.dtype != DType::kInt32) {
      cases.push_back(one_input(random, Quantize{}, float_type(shape), to));
    }
  }
  return cases;
}

std::vector<OneNode> pad_cases() {
  Random random(63);
  std::vector<OneNode> cases;
  for (int64_t n = 0; n < 200; ++n) {
    const int64_t rank = n % 5;
    const TensorType x = random_type(random, random_shape(random, rank));
    Pad pad;
    pad.value = static_cast<double>(random.integer(0, 127));
    for (int64_t d = 0; d < rank; ++d) {
      pad.before.push_back(std::max<int64_t>(0, random.integer(-2, 2)));
      pad.after.push_back(std::max<int64_t>(0, random.integer(-2, 3)));
    }
    cases.push_back(one_input(random, pad, x, x));
  }
  return cases;
}

std::vector<OneNode> reduce_cases() {
  Random random(64);
  std::vector<OneNode> cases;
  for (int64_t rank = 0; rank <= 4; ++rank) {
    for (int64_t mask = 0; mask < int64_t{1} << rank; ++mask) {
      for (int64_t n = 0; n < 12; ++n) {
        Reduce reduce;
        reduce.keep_dims = n % 2 == 0;
        for (int64_t d = 0; d < rank; ++d) {
          if ((mask >> d & 1) != 0) reduce.axes.push_back(d);
        }
        const TensorType x = random_type(random, random_shape(random, rank));
        cases.push_back(one_input(random, reduce, x, rescaled(random, x), kRoundings[n % 3]));
      }
    }
  }
  return cases;
}

namespace {

// Some part of each dimension, forwards or backwards.
Slice random_slice(Random& random, const Shape& shape) {
  Slice slice;
  for (const int64_t extent : shape) {
    const int64_t begin = random.integer(0, extent - 1);
    const bool backwards = random.chance(1, 3);
    const int64_t stride = (backwards ? -1 : 1) * random.integer(1, 3);
    const int64_t left = backwards ? begin : extent - 1 - begin;
    slice.begin.push_back(begin);
    slice.strides.push_back(stride);
    slice.size.push_back(random.integer(1, left / std::abs(stride) + 1));
  }
  return slice;
}

Transpose random_transpose(Random& random, const Shape& shape) {
  Transpose transpose;
  for (int64_t d = 0; d < std::ssize(shape); ++d) {
    const auto place = random.integer(0, d);
    transpose.permutation.insert(transpose.permutation.begin() + place, d);
  }
  return transpose;
}

// By whole factors, which all rounding of places agrees on unless corners are aligned.
std::vector<OneNode> resize_cases(Random& random) {
  std::vector<OneNode> cases;
  for (int64_t n = 0; n < 24; ++n) {
    const TensorType x = random_type(random, {1 + n % 2, 6, 4, random.integer(1, 3)});
    ResizeNearest resize;
    resize.height = std::vector<int64_t>{1, 2, 3, 6, 12, 18}[static_cast<size_t>(n % 6)];
    resize.width = std::vector<int64_t>{1, 2, 4, 8}[static_cast<size_t>(n % 4)];
    resize.half_pixel_centers = n >= 12;
    cases.push_back(one_input(random, resize, x, x));
  }
  return cases;
}

}  // namespace

std::vector<OneNode> move_cases() {
  Random random(65);
  std::vector<OneNode> cases = resize_cases(random);
  for (int64_t n = 0; n < 50; ++n) {
    const TensorType x = random_type(random, random_shape(random, n % 5));
    Shape shape = x.shape;
    shape.insert(shape.begin(), 1);
    if (n % 2 == 0) shape = {x.num_elements()};
    cases.push_back(one_input(random, Reshape{shape}, x, x));
    cases.push_back(one_input(random, Copy{}, x, x));
    cases.push_back(one_input(random, random_slice(random, x.shape), x, x));
    cases.push_back(one_input(random, random_transpose(random, x.shape), x, x));
  }
  return cases;
}

std::vector<OneNode> concat_cases() {
  Random random(66);
  std::vector<OneNode> cases;
  for (int64_t n = 0; n < 200; ++n) {
    const int64_t rank = 1 + n % 4;
    const TensorType first = random_type(random, random_shape(random, rank));
    Concat concat;
    concat.axis = random.integer(0, rank - 1);
    OneNode node{concat, {}, {}, kRoundings[n % 3], random.next()};
    const int64_t num_inputs = random.integer(1, 4);
    for (int64_t i = 0; i < num_inputs; ++i) {
      TensorType x = random.chance(1, 2) ? first : rescaled(random, first);
      x.shape = first.shape;
      x.shape[static_cast<size_t>(concat.axis)] = random.integer(i == 0 ? 1 : 0, 3);
      node.inputs.push_back(random_input(x));
    }
    node.outputs = {random.chance(1, 2) ? first : rescaled(random, first)};
    cases.push_back(with_data(std::move(node)));
  }
  return cases;
}

std::vector<OneNode> softmax_cases() {
  Random random(67);
  std::vector<OneNode> cases;
  for (int64_t n = 0; n < 150; ++n) {
    Shape shape = random_shape(random, n % 4);
    shape.push_back(random.integer(1, 12));
    const Softmax softmax{random.pick<double>({1, 0.5, 2, 0.1})};
    TensorType x = random_quantized(random, DType::kInt8, shape);
    x.quantization->scales = {random.pick<float>({0.001F, 0.01F, 0.1F, 0.5F, 20, 40})};
    cases.push_back(one_input(random, softmax, x, int8_type({}, 1.0F / 256, -128)));
    cases.push_back(one_input(random, softmax, float_type(shape), float_type({})));
  }
  return cases;
}

}  // namespace ingot::testing
