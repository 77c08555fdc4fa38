// SPDX-License-Identifier: Apache-2.0
// Kernels that sum or choose among elements of one parameter, taken apart:
//
//   for o1 ... { let shared = ... for o2 ... {   // constant bounds, one output element each
//     acc = first
//     for s1 ... { for s2 ... { acc = acc + x[affine] } }      // or acc = max(acc, x[affine])
//     finish                                                   // stores the output element
//   } }
#pragma once
#include <optional>

#include "schedule/contraction.h"

namespace ingot {

struct Reduction {
  // Without a constant factor: `w` says nothing. x has no offset.
  Contraction c;
  loop::Block shared;  // what stands between the outer loops, in order
  bool is_max = false;
};

// nullopt if the kernel is of another form.
std::optional<Reduction> find_reduction(const loop::Kernel& kernel);

}  // namespace ingot
