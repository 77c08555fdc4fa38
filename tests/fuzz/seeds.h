// SPDX-License-Identifier: Apache-2.0
// What fuzzing starts from: the sample networks, those of the guarantee, and random ones.
#pragma once
#include <utility>
#include <vector>

#include "tests/support/random_network.h"
#include "tests/support/sample_models.h"

namespace ingot::testing {

inline std::vector<SampleModel> fuzz_seeds() {
  std::vector<SampleModel> models = sample_models();
  for (SampleModel& model : guarantee_models()) models.push_back(std::move(model));
  for (uint64_t seed = 1; seed <= 40; ++seed) models.push_back(random_network(seed));
  return models;
}

}  // namespace ingot::testing
