// SPDX-License-Identifier: Apache-2.0
// A folder that is gone when its owner is: removed by the destructor, and, should Ingot be killed
// before that, by a small watching process (`sh` waiting for the end of a pipe that only Ingot
// holds).
#pragma once
#include <filesystem>

#include "support/result.h"

namespace ingot::toolchain {

class TemporaryFolder {
 public:
  // A new, empty folder under TMPDIR, readable by this user only; kFileUnwritable if there is none.
  static Result<TemporaryFolder> make();

  TemporaryFolder(TemporaryFolder&& other) noexcept;
  TemporaryFolder& operator=(TemporaryFolder&& other) noexcept;
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder();

  const std::filesystem::path& path() const { return path_; }

 private:
  explicit TemporaryFolder(std::filesystem::path path);
  void swap(TemporaryFolder& other) noexcept;

  std::filesystem::path path_;  // empty: moved from
  int watched_pipe_ = -1;       // its end wakes the watcher
  int watcher_ = -1;            // the watcher's process; -1 if it could not be started
};

}  // namespace ingot::toolchain
