// SPDX-License-Identifier: Apache-2.0
// The caller's buffers get the C names that the contract promises.
#pragma once
#include "loop/program.h"

namespace ingot {

// `program` with its inputs and outputs renamed after their tensors (emit/names.h), in model order;
// other buffers keep their names unless one of those is taken.
loop::Program with_c_names(loop::Program program);

}  // namespace ingot
