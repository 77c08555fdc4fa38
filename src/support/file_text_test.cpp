// SPDX-License-Identifier: Apache-2.0
#include "support/file_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/file.h"

namespace ingot {
namespace {

FileText numbers() {
  return FileText([](const FileText::Sink& sink) {
    for (int i = 0; i < 3; ++i) sink(std::to_string(i) + "\n");
  });
}

TEST(FileText, IsAStringOrMadeInPieces) {
  EXPECT_EQ(FileText().str(), "");
  EXPECT_EQ(FileText("held").str(), "held");
  std::vector<std::string> pieces;
  const auto collect = [&](std::string_view piece) { pieces.emplace_back(piece); };
  FileText("held").write_to(collect);
  numbers().write_to(collect);
  EXPECT_THAT(pieces, ::testing::ElementsAre("held", "0\n", "1\n", "2\n"));
  const FileText twice = numbers();
  EXPECT_EQ(twice.str(), "0\n1\n2\n");
  EXPECT_EQ(twice.str(), "0\n1\n2\n");
}

TEST(FileText, IsWrittenInPieces) {
  const std::string folder = ::testing::TempDir() + "file_text";
  ASSERT_TRUE(write_files(folder, {{"held", "text"}, {"made", numbers()}}));
  const Result<std::vector<uint8_t>> made = read_file(folder + "/made");
  ASSERT_TRUE(made);
  EXPECT_EQ(std::string(made->begin(), made->end()), "0\n1\n2\n");
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace ingot
