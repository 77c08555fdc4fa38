// SPDX-License-Identifier: Apache-2.0
#include "ops/window.h"

#include <fmt/format.h>

#include <utility>

namespace ingot {
namespace {

using loop::Expr;
using loop::lit;

// Keeps every sum of two coordinates within int32.
constexpr int64_t kLargest = (int64_t{1} << 30) - 1;

bool within(int64_t low, int64_t value) { return low <= value && value <= kLargest; }

// "2x3", rows first.
std::string by(int64_t h, int64_t w) { return fmt::format("{}x{}", h, w); }

// ceil(e / d) and floor(e / d).
Expr ceil_div(const Expr& e, int64_t d) { return loop::floor_div(e + (d - 1), d); }

// The dilation, which means nothing where there is one tap.
int64_t tap_distance(const Window& window) { return window.kernel > 1 ? window.dilation : 1; }

}  // namespace

Fault check_windows(const Windows& windows) {
  const Window& y = windows.y;
  const Window& x = windows.x;
  const auto check = [&](const char* what, int64_t h, int64_t w) -> Fault {
    if (within(1, h) && within(1, w)) return std::nullopt;
    return attribute_fault(fmt::format("the {} is {}, at least 1x1 and at most {} are needed", what,
                                       by(h, w), by(kLargest, kLargest)));
  };
  if (Fault fault = check("stride", y.stride, x.stride)) return fault;
  if (Fault fault = check("dilation", y.dilation, x.dilation)) return fault;
  if (Fault fault = check("kernel", y.kernel, x.kernel)) return fault;
  if (Fault fault = check("image", y.image, x.image)) return fault;
  if (!within(0, y.before) || !within(0, y.after) || !within(0, x.before) || !within(0, x.after)) {
    return attribute_fault(
        fmt::format("the padding is {} top, {} bottom, {} left, {} right; each must be at least 0",
                    y.before, y.after, x.before, x.after));
  }
  const auto padded = [](const Window& w) { return w.image + w.before + w.after; };
  if (!within(1, padded(y)) || !within(1, padded(x))) {
    return shape_fault(fmt::format("the padded image is {}, at most {} is supported",
                                   by(padded(y), padded(x)), by(kLargest, kLargest)));
  }
  const auto reach = [](const Window& w) { return (w.kernel - 1) * w.dilation + 1; };
  if (reach(y) > padded(y) || reach(x) > padded(x)) {
    return shape_fault(fmt::format("the kernel covers {} cells, but the padded image has only {}",
                                   by(reach(y), reach(x)), by(padded(y), padded(x))));
  }
  return std::nullopt;
}

Axis taps(Lowering& lowering, const std::string& name, const Window& window, const Expr& position) {
  Expr begin = lit(0);
  Expr end = lit(window.kernel);
  const int64_t distance = tap_distance(window);
  if (window.before > 0) {
    const Expr outside = lit(window.before) - position * window.stride;
    begin = loop::max(ceil_div(outside, distance), begin);
  }
  const int64_t last_cell = (window.num_positions() - 1) * window.stride +
                            (window.kernel - 1) * window.dilation - window.before;
  if (last_cell >= window.image) {
    const Expr inside = lit(window.image + window.before) - position * window.stride;
    end = loop::min(ceil_div(inside, distance), end);
  }
  return axis(lowering, name, std::move(begin), std::move(end));
}

Expr cell_of(const Window& window, const Expr& position, const Expr& tap) {
  return position * window.stride + tap * tap_distance(window) + -window.before;
}

}  // namespace ingot
