// SPDX-License-Identifier: Apache-2.0
// Runs of bytes that are only moved or set (concatenation, padding, slices), in words of four or in
// vectors of sixteen bytes, on cores that load and store them at any address.
#pragma once
#include "loop/program.h"

namespace ingot {

// Whether the loop only copies neighbouring bytes of one buffer to another one, or sets them.
bool is_copy(const loop::For& f);

// Each innermost loop of `block` that copies neighbouring bytes of one buffer to another one, or
// sets them to one value, by words; with `has_vectors` sixteen bytes are one vector. A word is read
// before it is written, as its bytes were, so copies may overlap as far as before.
loop::Block with_words(const loop::Block& block, bool has_vectors);

}  // namespace ingot
