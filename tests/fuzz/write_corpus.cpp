// SPDX-License-Identifier: Apache-2.0
// write_corpus DIR: what the fuzzers start from: the sample networks, those of the guarantee, and
// random ones.
#include <fmt/format.h>

#include <filesystem>
#include <fstream>

#include "tests/support/random_network.h"
#include "tests/support/sample_models.h"

int main(int argc, char** argv) {
  using ingot::testing::SampleModel;
  if (argc != 2) return 2;
  const std::filesystem::path folder = argv[1];
  std::filesystem::create_directories(folder);
  std::vector<SampleModel> models = ingot::testing::sample_models();
  for (SampleModel& model : ingot::testing::guarantee_models()) models.push_back(std::move(model));
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    models.push_back(ingot::testing::random_network(seed));
  }
  for (const SampleModel& model : models) {
    std::ofstream file(folder / (model.name + ".tflite"), std::ios::binary);
    file.write(reinterpret_cast<const char*>(model.file.data()),
               static_cast<std::streamsize>(model.file.size()));
    if (!file) return 1;
  }
  fmt::print("{} models\n", models.size());
  return 0;
}
