// SPDX-License-Identifier: Apache-2.0
// Any bytes end in a graph or in diagnostics, none of which is about a bug of ours.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>

#include "driver/compile.h"
#include "tests/fuzz/processor_limit.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const ingot::testing::ProcessorLimit limit;
  const ingot::Result<ingot::ImportedModel> model =
      ingot::read_model(std::span(data, size), {.name = "model"});
  if (model) return 0;
  for (const ingot::Diagnostic& diagnostic : model.error()) {
    if (diagnostic.code != ingot::Code::kInternal) continue;
    std::fprintf(stderr, "InternalError: %s\n", diagnostic.what.c_str());
    std::abort();
  }
  return 0;
}
