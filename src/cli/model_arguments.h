// SPDX-License-Identifier: Apache-2.0
// The options that say what is compiled and how; the same for compile, inspect, validate and bench.
#pragma once
#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "driver/compile.h"
#include "support/result.h"

namespace ingot::cli {

struct ModelArguments {
  std::string path;
  std::optional<std::string> name;
  std::string target = "c99";
  std::string rounding = "double";
  std::string optimize = "speed";
  std::string io = "caller";
  std::string weights = "c";
  std::string api = "c";
  std::optional<std::string> tvm_name;
  std::string tvm_interface = "c";
  std::string tvm_workspace = "allocator";
  std::string package = "none";
  bool reuse_inputs = false;
  bool scratch_in_outputs = false;
  std::optional<int64_t> arena_limit;
  std::optional<int64_t> flash_limit;
  std::vector<std::string> dims;
  std::vector<std::string> pools;
  std::vector<std::string> places;
};

// Takes one of `values`, and says which one was probably meant.
CLI::Validator one_of(const std::vector<std::string>& values);

// An option with one of `values`, listed in its help.
CLI::Option* add_choice(CLI::App& command, const std::string& option, std::string& value,
                        const std::string& help, const std::vector<std::string>& values);

// Accepts numbers that are not negative, of the kind that the option itself reads.
CLI::Validator non_negative();

// MODEL and the options of `compile` that change the program.
void add_model_arguments(CLI::App& command, ModelArguments& arguments);

// The compiler's options, or what is wrong with the arguments. Options that this version of Ingot
// does not have yet are refused, never ignored.
Result<CompileOptions> compile_options(const ModelArguments& arguments);

}  // namespace ingot::cli
