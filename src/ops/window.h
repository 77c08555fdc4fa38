// SPDX-License-Identifier: Apache-2.0
// Windows that slide over an image: their geometry, and loops over the taps that lie inside it.
//
// Padding is never read and never tested for: at the border the loops over the taps are shorter,
// their bounds being functions of the position. So inner loops are free of conditions, and every
// index stays affine in the loop variables.
#pragma once
#include <string>

#include "graph/ops.h"
#include "ops/checks.h"
#include "ops/nest.h"

namespace ingot {

// One spatial dimension. The tap `t` of position `p` reads cell p * stride + t * dilation - before.
struct Window {
  int64_t image = 1;   // cells
  int64_t kernel = 1;  // taps
  int64_t stride = 1;
  int64_t dilation = 1;
  int64_t before = 0;  // padding
  int64_t after = 0;

  // How often the window fits; at least 1 once check_windows has passed.
  int64_t num_positions() const {
    return (image + before + after - (kernel - 1) * dilation - 1) / stride + 1;
  }
};

struct Windows {
  Window y;
  Window x;
};

// All attributes are in their ranges, the kernel fits into the padded image, and no coordinate
// leaves int32.
Fault check_windows(const Windows& windows);

// The taps of `window` at `position` that lie inside the image.
Axis taps(Lowering& lowering, const std::string& name, const Window& window,
          const loop::Expr& position);
// The cell of the image that tap `tap` reads at `position`.
loop::Expr cell_of(const Window& window, const loop::Expr& position, const loop::Expr& tap);

}  // namespace ingot
