// SPDX-License-Identifier: Apache-2.0
// A test that runs on the boards it is instantiated for. Where the cross compiler or the emulator
// is missing, it says so.
#pragma once
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "toolchain/board.h"

namespace ingot::toolchain {

class OnBoard : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    board_ = find_board(GetParam());
    ASSERT_NE(board_, nullptr);
    const std::vector<std::string> missing = missing_programs(*board_);
    if (!missing_feature(*board_).empty()) GTEST_SKIP() << "skipped: " << missing_feature(*board_);
    if (!missing.empty()) GTEST_SKIP() << "skipped: " << missing.front() << " is not installed";
  }
  const Board* board_ = nullptr;
};

inline std::string name_of_case(const ::testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  std::erase(name, '-');
  return name;
}

}  // namespace ingot::toolchain
