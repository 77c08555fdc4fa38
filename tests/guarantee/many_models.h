// SPDX-License-Identifier: Apache-2.0
// One program that runs many compiled models on vectors, each of its buffers between guard bytes.
// toolchain/validate.h does so for one model; to build and start a program for each takes longer
// than all that these models compute. The models are one translation unit, which their prefixes
// must allow.
#pragma once
#include <span>
#include <vector>

#include "support/file.h"
#include "toolchain/build.h"
#include "toolchain/harness_text.h"

namespace ingot::testing {

struct ModelRun {
  toolchain::ModelInterface model;
  std::vector<OutputFile> files;
  std::vector<toolchain::GoldenVector> vectors;
};

// The program returns 0 and says "N models are right", or 1 and names what is wrong, one line each:
// "MODEL, vector I: output y was overrun". The names of models differ.
toolchain::Sources many_models(std::span<const ModelRun> runs);

}  // namespace ingot::testing
