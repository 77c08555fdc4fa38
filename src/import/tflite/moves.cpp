// SPDX-License-Identifier: Apache-2.0
#include "import/tflite/moves.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "support/arithmetic.h"

namespace ingot::tflite {
namespace {

using Numbers = std::vector<int64_t>;

// All of x.
Slice whole_of(const Shape& x) { return {Numbers(x.size(), 0), x, Numbers(x.size(), 1)}; }

// Constant integers, one per dimension of input 0; nullopt after a diagnostic.
std::optional<Numbers> one_per_dimension(OperatorReader& reader, int64_t input,
                                         std::string_view what) {
  std::optional<Numbers> numbers = reader.integers(input, what, kMostDimensions);
  const int64_t rank = reader.input_type(0).rank();
  if (!numbers || std::ssize(*numbers) == rank) return numbers;
  reader.malformed(
      fmt::format("{} has {} elements for an input of rank {}", what, numbers->size(), rank));
  return std::nullopt;
}

// The one axis that an input names; nullopt after a diagnostic.
std::optional<int64_t> axis_from(OperatorReader& reader, int64_t input, const Shape& x) {
  const std::optional<Numbers> axes = reader.integers(input, "the axis", 1);
  if (!axes) return std::nullopt;
  const std::optional<int64_t> axis =
      axes->size() == 1 ? resolved_axis(axes->front(), std::ssize(x)) : std::nullopt;
  if (!axis) reader.malformed(fmt::format("the axis is beyond the rank {}", x.size()));
  return axis;
}

// Parts of `sizes` elements along `axis`, one per output.
bool emit_parts(OperatorReader& reader, int64_t input, int64_t axis, const Numbers& sizes) {
  if (std::ssize(sizes) != reader.num_outputs()) {
    return reader.malformed(
        fmt::format("it makes {} parts and has {} outputs", sizes.size(), reader.num_outputs()));
  }
  Slice slice = whole_of(reader.input_type(input).shape);
  const auto d = static_cast<size_t>(axis);
  for (size_t part = 0; part < sizes.size(); ++part) {
    slice.size[d] = sizes[part];
    if (!reader.emit_part(static_cast<int64_t>(part), input, slice)) return false;
    slice.begin[d] += sizes[part];
  }
  return true;
}

// Along one dimension, as TFLite resolves it (StridedSlice: StartForAxis, StopForAxis).
struct Range {
  int64_t begin = 0;
  int64_t size = 0;
};

int64_t resolved_index(int64_t index, int64_t stride, int64_t extent) {
  if (index < 0) index += extent;
  return stride > 0 ? std::clamp<int64_t>(index, 0, extent)
                    : std::clamp<int64_t>(index, -1, extent - 1);
}

Range range_of(std::optional<int64_t> begin, std::optional<int64_t> end, int64_t stride,
               int64_t extent) {
  const int64_t first = begin        ? resolved_index(*begin, stride, extent)
                        : stride > 0 ? 0
                                     : extent - 1;
  const int64_t stop = end ? resolved_index(*end, stride, extent) : stride > 0 ? extent : -1;
  const int64_t distance = stride > 0 ? stop - first : first - stop;
  return {first, std::max<int64_t>(0, ceil_div(distance, std::abs(stride)))};
}

}  // namespace

bool read_slice(OperatorReader& reader) {
  const std::optional<Numbers> begin = one_per_dimension(reader, 1, "the list of begins");
  const std::optional<Numbers> size = one_per_dimension(reader, 2, "the list of sizes");
  if (!begin || !size) return false;
  const Shape& x = reader.input_type(0).shape;
  Slice op = {*begin, *size, Numbers(x.size(), 1)};
  for (size_t d = 0; d < x.size(); ++d) {
    // -1: all that is left. A begin that is not in x is inference's to refuse.
    const bool is_open = op.size[d] == -1 && op.begin[d] >= 0 && op.begin[d] <= x[d];
    if (is_open) op.size[d] = x[d] - op.begin[d];
  }
  return reader.emit(op, {0});
}

bool read_strided_slice(OperatorReader& reader) {
  const auto options = reader.options<format::StridedSliceOptions>();
  const auto begin = reader.integers(1, "the list of begins", kMostDimensions);
  const auto end = reader.integers(2, "the list of ends", kMostDimensions);
  const auto strides = reader.integers(3, "the list of strides", kMostDimensions);
  if (!options || !begin || !end || !strides) return false;
  if (options->ellipsis_mask != 0 || options->new_axis_mask != 0 || options->offset) {
    return reader.fail(Code::kOperatorUnsupported,
                       "an ellipsis, a new axis or ends relative to begins are not supported");
  }
  const Shape& x = reader.input_type(0).shape;
  const size_t listed = begin->size();
  if (end->size() != listed || strides->size() != listed || listed > x.size()) {
    return reader.malformed(fmt::format("it has {} begins, {} ends and {} strides for rank {}",
                                        listed, end->size(), strides->size(), x.size()));
  }
  Slice op;
  Reshape kept;
  for (size_t d = 0; d < listed; ++d) {
    const auto is_in = [&](int32_t mask) { return ((static_cast<uint32_t>(mask) >> d) & 1U) != 0; };
    const int64_t stride = strides->at(d);
    constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
    if (stride == 0 || std::abs(stride) > kMost || std::abs(begin->at(d)) > kMost + 1 ||
        std::abs(end->at(d)) > kMost + 1) {
      return reader.malformed(
          fmt::format("from {} to {} by {} makes no sense", begin->at(d), end->at(d), stride));
    }
    const bool shrinks = is_in(options->shrink_axis_mask);
    const auto first = is_in(options->begin_mask) ? std::nullopt : std::optional(begin->at(d));
    const auto stop = is_in(options->end_mask) ? std::nullopt : std::optional(end->at(d));
    Range range = range_of(first, stop, stride, x[d]);
    // An axis that vanishes is one index, whatever the end says.
    if (shrinks) range.size = 1;
    op.begin.push_back(range.begin);
    op.size.push_back(range.size);
    op.strides.push_back(stride);
    if (!shrinks) kept.shape.push_back(range.size);
  }
  // All of the dimensions that are not listed.
  for (size_t d = listed; d < x.size(); ++d) {
    op.begin.push_back(0);
    op.size.push_back(x[d]);
    op.strides.push_back(1);
    kept.shape.push_back(x[d]);
  }
  if (kept.shape.size() == x.size()) return reader.emit(op, {0});
  return reader.emit_part(0, 0, op, kept);
}

bool read_split(OperatorReader& reader) {
  const Shape& x = reader.input_type(1).shape;
  const std::optional<int64_t> axis = axis_from(reader, 0, x);
  if (!axis) return false;
  const int64_t extent = x[static_cast<size_t>(*axis)];
  const int64_t parts = reader.num_outputs();
  if (extent % parts != 0) {
    return reader.malformed(fmt::format("{} elements make no {} equal parts", extent, parts));
  }
  return emit_parts(reader, 1, *axis, Numbers(static_cast<size_t>(parts), extent / parts));
}

bool read_split_v(OperatorReader& reader) {
  const Shape& x = reader.input_type(0).shape;
  const std::optional<int64_t> axis = axis_from(reader, 2, x);
  std::optional<Numbers> sizes = reader.integers(1, "the list of sizes", reader.num_outputs());
  if (!axis || !sizes) return false;
  // -1, once: all that the others leave.
  const int64_t extent = x[static_cast<size_t>(*axis)];
  const auto open = std::ranges::find(*sizes, -1);
  int64_t known = 0;
  for (const int64_t size : *sizes) {
    if (size < -1 || size > extent) {
      return reader.malformed(
          fmt::format("a part of {} elements of {} makes no sense", size, extent));
    }
    known += std::max<int64_t>(size, 0);
  }
  if (open != sizes->end()) *open = extent - known;
  if (std::accumulate(sizes->begin(), sizes->end(), int64_t{0}) != extent) {
    return reader.malformed(fmt::format("its parts do not add up to {} elements", extent));
  }
  return emit_parts(reader, 0, *axis, *sizes);
}

bool read_unpack(OperatorReader& reader) {
  const auto options = reader.options<format::UnpackOptions>();
  if (!options) return false;
  const Shape& x = reader.input_type(0).shape;
  const std::optional<int64_t> axis = resolved_axis(options->axis, std::ssize(x));
  if (!axis) {
    return reader.malformed(fmt::format("the axis is {}, the rank {}", options->axis, x.size()));
  }
  const auto d = static_cast<size_t>(*axis);
  if (x[d] != reader.num_outputs()) {
    return reader.malformed(
        fmt::format("it makes {} parts and has {} outputs", x[d], reader.num_outputs()));
  }
  Slice slice = whole_of(x);
  slice.size[d] = 1;
  Reshape rest{x};
  rest.shape.erase(rest.shape.begin() + *axis);
  for (int64_t part = 0; part < reader.num_outputs(); ++part) {
    slice.begin[d] = part;
    if (!reader.emit_part(part, 0, slice, rest)) return false;
  }
  return true;
}

bool read_transpose(OperatorReader& reader) {
  const std::optional<Numbers> order = one_per_dimension(reader, 1, "the order of dimensions");
  if (!order) return false;
  Transpose op;
  for (const int64_t d : *order) {
    const std::optional<int64_t> axis = resolved_axis(d, reader.input_type(0).rank());
    if (!axis) {
      return reader.malformed(
          fmt::format("dimension {} is beyond the rank {}", d, reader.input_type(0).rank()));
    }
    op.permutation.push_back(*axis);
  }
  return reader.emit(op, {0});
}

bool read_resize_nearest_neighbor(OperatorReader& reader) {
  const auto options = reader.options<format::ResizeNearestNeighborOptions>();
  const std::optional<Numbers> size = reader.integers(1, "the new size", 2);
  if (!options || !size) return false;
  if (size->size() != 2) return reader.malformed("the new size is no height and width");
  return reader.emit(
      ResizeNearest{size->at(0), size->at(1), options->align_corners, options->half_pixel_centers},
      {0});
}

}  // namespace ingot::tflite
