// SPDX-License-Identifier: Apache-2.0
// bounded_run SECONDS FOLDER...: the whole-pipeline fuzzer without libFuzzer, for compilers that do
// not have it and for CI: first the files of the folders and our sample networks, then changed
// ones, until SECONDS of the processor are used up. The same inputs in the same order each time.
//
// A finding ends the process; its input is left in the file bounded_run.input.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/fuzz/seeds.h"
#include "tests/support/random.h"

extern "C" {
int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned int seed);
size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);
}

namespace {

using ingot::testing::Random;
using File = std::vector<uint8_t>;

constexpr size_t kMostBytes = 65536;
constexpr const char* kInput = "bounded_run.input";

double seconds_used() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

std::vector<File> files_of(int count, char** folders) {
  std::vector<std::filesystem::path> paths;
  for (int i = 0; i < count; ++i) {
    for (const auto& entry : std::filesystem::directory_iterator(folders[i])) {
      paths.push_back(entry.path());
    }
  }
  std::ranges::sort(paths);
  std::vector<File> files;
  for (const std::filesystem::path& path : paths) {
    std::ifstream stream(path, std::ios::binary);
    files.emplace_back(std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>());
  }
  return files;
}

void try_one(const File& file) {
  {
    std::ofstream stream(kInput, std::ios::binary);
    stream.write(reinterpret_cast<const char*>(file.data()),
                 static_cast<std::streamsize>(file.size()));
  }
  LLVMFuzzerTestOneInput(file.data(), file.size());
}

}  // namespace

// Stands for libFuzzer's, which changes bytes.
size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t /*max_size*/) {
  static Random random(1);
  if (size == 0) return 0;
  const auto place = [&] {
    return static_cast<size_t>(random.integer(0, static_cast<int64_t>(size) - 1));
  };
  if (random.chance(1, 8)) return place();  // cut off
  for (int64_t i = random.integer(1, 4); i > 0; --i)
    data[place()] ^= static_cast<uint8_t>(random.next());
  return size;
}

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const double seconds = std::strtod(argv[1], nullptr);
  std::vector<File> files = files_of(argc - 2, argv + 2);
  for (ingot::testing::SampleModel& model : ingot::testing::fuzz_seeds()) {
    files.push_back(std::move(model.file));
  }
  for (const File& file : files) try_one(file);
  int64_t runs = std::ssize(files);
  Random random(7);
  for (; seconds_used() < seconds; ++runs) {
    File file = random.pick(files);
    const size_t size = file.size();
    file.resize(std::max(size, kMostBytes));
    file.resize(LLVMFuzzerCustomMutator(file.data(), size, file.size(), random.next()));
    try_one(file);
    // What libFuzzer learns from coverage, chance must find: changes upon changes.
    if (random.chance(1, 16)) files.push_back(std::move(file));
  }
  std::filesystem::remove(kInput);
  fmt::print("{} inputs in {:.0f} s of the processor, no finding\n", runs, seconds_used());
  return 0;
}
