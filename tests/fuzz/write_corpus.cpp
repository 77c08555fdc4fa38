// SPDX-License-Identifier: Apache-2.0
// write_corpus DIR: what the fuzzers start from, as files.
#include <fmt/format.h>

#include <filesystem>
#include <fstream>

#include "tests/fuzz/seeds.h"

int main(int argc, char** argv) {
  using ingot::testing::SampleModel;
  if (argc != 2) return 2;
  const std::filesystem::path folder = argv[1];
  std::filesystem::create_directories(folder);
  const std::vector<SampleModel> models = ingot::testing::fuzz_seeds();
  for (const SampleModel& model : models) {
    std::ofstream file(folder / (model.name + ".tflite"), std::ios::binary);
    file.write(reinterpret_cast<const char*>(model.file.data()),
               static_cast<std::streamsize>(model.file.size()));
    if (!file) return 1;
  }
  fmt::print("{} models\n", models.size());
  return 0;
}
