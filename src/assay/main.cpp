// SPDX-License-Identifier: Apache-2.0
// assay: checks the claims that `ingot compile` makes about memory and rounding, from the files it
// wrote, sharing no code with the compiler.
//
// Who wants to believe it reads, in this order (about so many lines of code, without comments,
// empty lines and includes; tools/count_assay.py counts them):
//  - the memory plan, 870 lines: judge, layout (where and when buffers are), distances (overlap),
//    load (what is needed at once), bound and search (that the arena is the least), order (that no
//    other order needs less);
//  - the run that shows that every read finds its value and how near buffers may come, 970 lines:
//    calls, machine, and code and range, which strip kernels of their arithmetic;
//  - other claims, 590 lines: claims (names, ports, operators), requantisation, sums, rounding;
//  - the readers of both files, 1,090 lines: json, lexer, loops, body_reader.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>

#include "assay/judge.h"
#include "assay/lexer.h"
#include "assay/machine.h"

namespace {

constexpr int kUnreadable = 1;
constexpr int kUsage = 2;
constexpr int kDifferent = 4;
constexpr int kTooLong = 6;

constexpr const char* kHelp =
    "usage: assay DIR | FILE.json\n"
    "Checks a compiled model's plan and claims from NAME.json and NAME.loops beside it.\n"
    "Exit status: 0 all claims hold, 4 one does not (it says which), 1 the files cannot be read,\n"
    "6 the program is too large to be judged, 2 wrong usage.\n";

std::string slurp(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// The metadata file itself, or the only one in a folder that has a loop program beside it.
std::filesystem::path metadata_in(const std::filesystem::path& path) {
  if (!std::filesystem::is_directory(path)) return path;
  std::filesystem::path found;
  for (const auto& entry : std::filesystem::directory_iterator(path)) {
    std::filesystem::path loops = entry.path();
    if (loops.extension() != ".json" || !std::filesystem::exists(loops.replace_extension(".loops")))
      continue;
    if (!found.empty()) return {};
    found = entry.path();
  }
  return found;
}

int judge(const std::filesystem::path& argument) {
  const std::filesystem::path path = metadata_in(argument);
  std::filesystem::path loops_path = path;
  loops_path.replace_extension(".loops");
  const auto json = ingot::assay::parse_json(slurp(path));
  if (path.empty()) {
    std::fprintf(stderr, "assay: %s does not hold exactly one NAME.json with its NAME.loops\n",
                 argument.c_str());
    return kUnreadable;
  }
  if (!json) {
    std::fprintf(stderr, "assay: %s cannot be read or is no NAME.json\n", path.c_str());
    return kUnreadable;
  }
  ingot::assay::Loops loops = ingot::assay::read_loops(slurp(loops_path));
  const std::string lie = ingot::assay::find_lie(*json, std::move(loops));
  if (!lie.empty()) {
    std::printf("%s: wrong: %s\n", path.c_str(), lie.c_str());
    return kDifferent;
  }
  std::printf("%s: all claims hold\n", path.c_str());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs(kHelp, stderr);
    return kUsage;
  }
  if (std::string(argv[1]) == "--help") {
    std::fputs(kHelp, stdout);
    return 0;
  }
  try {
    return judge(argv[1]);
  } catch (const ingot::assay::TooLarge& limit) {
    std::fprintf(stderr, "assay: %s\n", limit.what());
    return kTooLong;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "assay: %s\n", error.what());
    return kUnreadable;
  }
}
