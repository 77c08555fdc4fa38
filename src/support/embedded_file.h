// SPDX-License-Identifier: Apache-2.0
// A text file that was made part of the program when it was built (cmake/EmbedText.cmake).
#pragma once
#include <algorithm>
#include <span>
#include <string_view>

#include "support/check.h"

namespace ingot {

struct EmbeddedFile {
  std::string_view name;  // without a folder
  std::string_view text;
};

// The text of the file `name`, which must be there.
inline std::string_view text_of(std::span<const EmbeddedFile> files, std::string_view name) {
  const auto file = std::ranges::find(files, name, &EmbeddedFile::name);
  CHECK(file != files.end());
  return file->text;
}

}  // namespace ingot
