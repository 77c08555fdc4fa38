// SPDX-License-Identifier: Apache-2.0
// Reading and writing files. With cli/ and toolchain/, the only code that touches the file system.
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "support/file_text.h"
#include "support/result.h"

namespace ingot {

constexpr int64_t kLargestFileBytes = int64_t{160} << 20;

// The bytes of a regular file of at most `limit_bytes`.
Result<std::vector<uint8_t>> read_file(const std::filesystem::path& path,
                                       int64_t limit_bytes = kLargestFileBytes);

struct OutputFile {
  std::string name;  // relative to the folder; may name a subfolder
  FileText bytes;
};

// Writes all files into `folder` (made if missing) or none: they appear when all are whole, and if
// anything fails, what was there stays. That holds also if the process is killed, and for several
// processes that write into one folder: it then holds the set of one of them. The first file is the
// one that the others are useless without (write_files.cpp says why).
Result<std::monostate> write_files(const std::filesystem::path& folder,
                                   const std::vector<OutputFile>& files);

}  // namespace ingot
