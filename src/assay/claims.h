// SPDX-License-Identifier: Apache-2.0
// What NAME.json says of the program but its memory plan, held against it. All throw Lie
// (assay/code.h).
#pragma once
#include <string>

#include "assay/json.h"
#include "assay/loops.h"

namespace ingot::assay {

// Otherwise "the JSON states " that.
void expect(bool holds, const std::string& otherwise);
// Bytes beyond ASCII may be written differently, or as what replaces them.
bool is_same_text(const std::string& json, const std::string& loops);
// That the members of `expected`, an object, are those of `stated`: numbers, texts (an empty one
// may lack), nothing, and arrays of such objects.
void expect_same(const Json& stated, const Json& expected, const std::string& of);
// Names, ports, operators, sums of bytes and multiplications, order; that the bound of the stack
// can be one, and that there is a hash of the model (which assay does not get).
void check_listing(const Json& json, const Loops& loops);

}  // namespace ingot::assay
