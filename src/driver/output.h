// SPDX-License-Identifier: Apache-2.0
// The files that `compile` writes, and what a caller of the generated C must know.
#pragma once
#include <vector>

#include "driver/compile.h"

namespace ingot {

// How emit_c prints the C of `compiled`.
EmitOptions emit_options(const Compiled& compiled, const CompileOptions& options,
                         const Target& target);

std::vector<OutputFile> output_files(const Compiled& compiled, const CompileOptions& options,
                                     const Target& target);

// Whether two of output_files() would have one name, on some file systems at least, which do not
// distinguish upper from lower case.
Diagnostics find_equal_files(const CompileOptions& options);

toolchain::ModelInterface interface_of(const Storage& storage, const CompileOptions& options);

}  // namespace ingot
