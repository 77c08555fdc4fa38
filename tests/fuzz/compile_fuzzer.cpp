// SPDX-License-Identifier: Apache-2.0
// Any bytes end in C or in diagnostics, none of which is about a bug of ours. Options follow from
// the size of the input, so that they change as it does.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>

#include "driver/compile.h"
#include "tests/fuzz/processor_limit.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const ingot::testing::ProcessorLimit limit;
  ingot::CompileOptions options{.name = "model"};
  options.target = (size & 4) != 0 ? "c99" : "cortex-m4";
  options.io = (size & 8) != 0 ? ingot::EmitOptions::Io::kCaller : ingot::EmitOptions::Io::kArena;
  options.reuse_inputs = (size & 16) != 0;
  options.rounding = (size & 32) != 0 ? ingot::Rounding::kDouble : ingot::Rounding::kFloat;
  const ingot::Result<ingot::Compiled> compiled = ingot::compile(std::span(data, size), options);
  if (compiled) return 0;
  for (const ingot::Diagnostic& diagnostic : compiled.error()) {
    if (diagnostic.code != ingot::Code::kInternal) continue;
    std::fprintf(stderr, "InternalError: %s\n", diagnostic.what.c_str());
    std::abort();
  }
  return 0;
}
