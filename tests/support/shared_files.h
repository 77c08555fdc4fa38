// SPDX-License-Identifier: Apache-2.0
// Where the shared reference models lie, for the tests that use them beyond what the repository
// holds: the folder the environment variable INGOT_SHARED names, or else ../shared beside the
// source tree. Tests without it must skip themselves (GTEST_SKIP), never pass.
#pragma once
#include <cstdlib>
#include <filesystem>
#include <optional>

namespace ingot::testing {

inline std::optional<std::filesystem::path> shared_folder() {
  const char* named = std::getenv("INGOT_SHARED");
  const std::filesystem::path folder =
      named ? named : std::filesystem::path(INGOT_SOURCE_FOLDER) / ".." / "shared";
  if (!std::filesystem::is_directory(folder / "models")) return std::nullopt;
  return folder;
}

}  // namespace ingot::testing
