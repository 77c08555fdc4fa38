// SPDX-License-Identifier: Apache-2.0
// Files that ask for more than they should get: very many, very large, very deep, or much made of
// little because parts of the file are shared. What a row says is checked by limits_test.cpp.
#pragma once
#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

namespace ingot::testing {

struct NastyModel {
  std::string name;
  std::vector<uint8_t> (*file)();
  // A part of what is said of it; empty: it compiles.
  std::string message = {};
  std::string target = "c99";
  std::vector<std::string> options = {};
  int exit_code = 1;  // where there is a message
};
// For messages of tests.
inline void PrintTo(const NastyModel& model, std::ostream* out) { *out << model.name; }

// Many operators and tensors, odd shapes, much to compute at compile time.
std::vector<NastyModel> large_models();
// Networks that are long, wide, or entangled: what many layers, channels and readers cost.
std::vector<NastyModel> entangled_models();
// Loops of very many steps, for each target that has schedules of its own.
std::vector<NastyModel> scheduled_models();
// Small files that describe much.
std::vector<NastyModel> sharing_models();

}  // namespace ingot::testing
