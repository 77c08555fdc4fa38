// SPDX-License-Identifier: Apache-2.0
// tflite_write IN.json OUT.tflite: writes the model that IN.json (`-`: standard input) describes.
// tflite_json.h has the description's grammar.
#include <fstream>
#include <iostream>
#include <iterator>

#include "support/file.h"
#include "tests/support/tflite_json.h"

namespace {

int run(const std::string& from, const std::filesystem::path& to) {
  std::ifstream file;
  if (from != "-") file.open(from, std::ios::binary);
  std::istream& stream = from == "-" ? std::cin : file;
  if (!stream) throw std::runtime_error("cannot be opened");
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  const std::vector<uint8_t> bytes =
      ingot::testing::tflite_from_json(text, std::filesystem::path(from).parent_path());
  const std::filesystem::path folder = to.has_parent_path() ? to.parent_path() : ".";
  const auto written = ingot::write_files(
      folder, {{to.filename().string(), std::string(bytes.begin(), bytes.end())}});
  if (!written) throw std::runtime_error(written.error()[0].what);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: tflite_write IN.json OUT.tflite\n";
    return 2;
  }
  try {
    return run(argv[1], argv[2]);
  } catch (const std::exception& error) {
    std::cerr << argv[1] << ": error: " << error.what() << "\n";
    return 1;
  }
}
