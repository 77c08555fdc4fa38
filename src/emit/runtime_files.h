// SPDX-License-Identifier: Apache-2.0
// C that is copied into what the emitter writes (runtime/), as text.
#pragma once
#include <span>

#include "support/embedded_file.h"

namespace ingot {

std::span<const EmbeddedFile> runtime_files();

}  // namespace ingot
