// SPDX-License-Identifier: Apache-2.0
// Any bytes end in C or in diagnostics, none of which is about a bug of ours. Options follow from
// the size of the input, so that they change as it does.
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>

#include "driver/compile.h"
#include "tests/fuzz/processor_limit.h"

namespace {

constexpr std::array kTargets = {"c99",       "cortex-m4", "cortex-m55", "x86-64-avx512vnni",
                                 "x86-64-v3", "rv32imc",   "aarch64",    "cortex-m0plus"};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const ingot::testing::ProcessorLimit limit;
  ingot::CompileOptions options{.name = "model"};
  options.target = kTargets[size / 4 % kTargets.size()];
  if ((size & 128) != 0) options.flash_limit = 1 << 20;
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
