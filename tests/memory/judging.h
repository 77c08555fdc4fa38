// SPDX-License-Identifier: Apache-2.0
// What the tests of the caller's memory share: compiling samples, and all judges of the result.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "driver/compile.h"
#include "tests/support/sample_models.h"
#include "toolchain/harness_text.h"

namespace ingot::testing {

// Throws InternalError if the model does not compile.
Compiled compiled_with(const SampleModel& model, const CompileOptions& options);

// The file whose name ends so; empty if there is none.
std::string text_of(const Compiled& compiled, std::string_view suffix);

// What assay has against the files; empty if nothing.
std::string verdict(const std::string& json, const std::string& loops);
std::string verdict(const Compiled& compiled);

std::vector<toolchain::GoldenVector> vectors_of(const Compiled& compiled, int64_t count);

// `text` with the first `from` replaced; CHECKs that there is one.
std::string changed(std::string text, const std::string& from, const std::string& to);

}  // namespace ingot::testing
