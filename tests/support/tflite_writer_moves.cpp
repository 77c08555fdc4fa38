// SPDX-License-Identifier: Apache-2.0
// The operators of TfliteWriter that take parts of a tensor or move its elements.
#include "support/arithmetic.h"
#include "support/check.h"
#include "tests/support/tflite_writer.h"

namespace ingot::testing {
namespace {

size_t place(int64_t axis, const Shape& shape) {
  const int64_t rank = std::ssize(shape);
  CHECK(-rank <= axis && axis < rank);
  return static_cast<size_t>(axis < 0 ? axis + rank : axis);
}

}  // namespace

int64_t TfliteWriter::slice(const std::string& name, int64_t x, const std::vector<int64_t>& begin,
                            const std::vector<int64_t>& size) {
  Shape shape = type_of(x).shape;
  CHECK(begin.size() == shape.size() && size.size() == shape.size());
  for (size_t d = 0; d < shape.size(); ++d) shape[d] = size[d] < 0 ? shape[d] - begin[d] : size[d];
  const int64_t from = indices(name + "/begin", {std::ssize(begin)}, begin);
  const int64_t count = indices(name + "/size", {std::ssize(size)}, size);
  const int64_t y = result(name, x, shape, std::nullopt);
  op(BuiltinOperator::SLICE, {x, from, count}, {y}, format::SliceOptionsT{});
  return y;
}

int64_t TfliteWriter::strided_slice(const std::string& name, int64_t x,
                                    const std::vector<int64_t>& begin,
                                    const std::vector<int64_t>& end,
                                    const std::vector<int64_t>& strides, const Shape& shape,
                                    const format::StridedSliceOptionsT& options) {
  const int64_t from = indices(name + "/begin", {std::ssize(begin)}, begin);
  const int64_t to = indices(name + "/end", {std::ssize(end)}, end);
  const int64_t by = indices(name + "/strides", {std::ssize(strides)}, strides);
  const int64_t y = result(name, x, shape, std::nullopt);
  op(BuiltinOperator::STRIDED_SLICE, {x, from, to, by}, {y}, options);
  return y;
}

std::vector<int64_t> TfliteWriter::split(const std::string& name, int64_t x, int64_t axis,
                                         int64_t parts, const std::vector<int64_t>& sizes) {
  const int64_t along = indices(name + "/axis", {}, {axis});
  Shape shape = type_of(x).shape;
  int64_t& extent = shape[place(axis, shape)];
  const int64_t equal = extent / parts;
  std::vector<int64_t> ys;
  for (int64_t part = 0; part < parts; ++part) {
    extent = sizes.empty() ? equal : sizes.at(static_cast<size_t>(part));
    ys.push_back(result(name + "/" + std::to_string(part), x, shape, std::nullopt));
  }
  if (sizes.empty()) {
    format::SplitOptionsT options;
    options.num_splits = narrow({parts}).front();
    op(BuiltinOperator::SPLIT, {along, x}, ys, options);
  } else {
    const int64_t counts = indices(name + "/sizes", {std::ssize(sizes)}, sizes);
    format::SplitVOptionsT options;
    options.num_splits = narrow({parts}).front();
    op(BuiltinOperator::SPLIT_V, {x, counts, along}, ys, options);
  }
  return ys;
}

std::vector<int64_t> TfliteWriter::unpack(const std::string& name, int64_t x, int64_t axis) {
  Shape shape = type_of(x).shape;
  const size_t d = place(axis, shape);
  const int64_t parts = shape[d];
  shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(d));
  std::vector<int64_t> ys;
  for (int64_t part = 0; part < parts; ++part) {
    ys.push_back(result(name + "/" + std::to_string(part), x, shape, std::nullopt));
  }
  format::UnpackOptionsT options;
  options.num = narrow({parts}).front();
  options.axis = narrow({axis}).front();
  op(BuiltinOperator::UNPACK, {x}, ys, options);
  return ys;
}

int64_t TfliteWriter::transpose(const std::string& name, int64_t x,
                                const std::vector<int64_t>& permutation) {
  const Shape from = type_of(x).shape;
  Shape shape;
  for (const int64_t d : permutation) shape.push_back(from.at(place(d, from)));
  const int64_t order = indices(name + "/perm", {std::ssize(permutation)}, permutation);
  const int64_t y = result(name, x, shape, std::nullopt);
  op(BuiltinOperator::TRANSPOSE, {x, order}, {y}, format::TransposeOptionsT{});
  return y;
}

int64_t TfliteWriter::resize_nearest_neighbor(const std::string& name, int64_t x, int64_t height,
                                              int64_t width, bool align_corners,
                                              bool half_pixel_centers) {
  const Shape from = type_of(x).shape;
  CHECK(from.size() == 4);
  const int64_t size = indices(name + "/size", {2}, {height, width});
  const int64_t y = result(name, x, {from[0], height, width, from[3]}, std::nullopt);
  format::ResizeNearestNeighborOptionsT options;
  options.align_corners = align_corners;
  options.half_pixel_centers = half_pixel_centers;
  op(BuiltinOperator::RESIZE_NEAREST_NEIGHBOR, {x, size}, {y}, options);
  return y;
}

}  // namespace ingot::testing
