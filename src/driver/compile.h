// SPDX-License-Identifier: Apache-2.0
// The compiler as one function: a model's bytes in, texts of files out. Everything the model or the
// options can be blamed for comes back as diagnostics; a broken invariant, an exhausted memory or
// an exception of a library is caught here, once, and comes back as Code::kInternal.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "emit/emit.h"
#include "graph/graph.h"
#include "ops/rules.h"
#include "passes/shrink.h"
#include "storage/storage.h"
#include "support/file.h"
#include "support/result.h"
#include "target/target.h"
#include "toolchain/harness_text.h"

namespace ingot {

// "0.1.0"
std::string_view version();

struct CompileOptions {
  std::string name;  // of the model in C (emit/names.h: is_model_name)
  std::string target = "c99";
  Rounding rounding = Rounding::kDouble;
  enum class Optimize : uint8_t { kSpeed, kSize, kRam };
  Optimize optimize = Optimize::kSpeed;
  // Bytes of constants that Optimize::kSpeed may come up to by larger weights; none: as few as it
  // needs. Whether the rest fits is check_flash_limit's business.
  std::optional<int64_t> flash_limit = {};
  // Bytes of the arena beyond which those weights, which need scratch memory, are not taken.
  // Whether the rest fits is check_arena_limit's business.
  std::optional<int64_t> arena_limit = {};
  EmitOptions::Io io = EmitOptions::Io::kCaller;
  bool reuse_inputs = false;
  bool scratch_in_outputs = false;  // without effect with Io::kArena, where outputs are planned
  std::optional<EmitOptions::Tvm> tvm = {};        // --api tvm; not with Io::kArena
  std::vector<PoolOption> pools = {};              // --pool; not with tvm
  std::map<std::string, std::string> places = {};  // --place: by tensor
  std::map<std::string, int64_t> dims = {};        // "TENSOR:DIMENSION" to extent
  // Statement between two steps of NAME_run, for measuring each; empty: none.
  std::string step_mark = {};
};

// What may be watched. Nothing in driver/ looks at a clock: who wants to know how long a step took
// looks at the time between calls.
struct Hooks {
  // After each step, with its name and a function that prints what it left.
  std::function<void(std::string_view step, const std::function<std::string()>& text)> after_step;
};

// The steps in the order in which hooks see them.
std::vector<std::string> step_names();

struct Compiled {
  Graph model;                             // as imported, or as given to compile_graph
  Diagnostics warnings;                    // of the import
  std::string sha256;                      // of the model file
  Shrinking shrinking;                     // what is not computed of the model, and why
  std::vector<std::string> compile_flags;  // for the generated C
  Storage storage;  // the program with addresses, the planner's problem and its answer
  std::vector<OutputFile> files;  // NAME.h, NAME.c, NAME_weights.c, NAME.json, NAME.loops
  toolchain::ModelInterface interface;
};

// Reads `model` (a .tflite file) and compiles it.
Result<Compiled> compile(std::span<const uint8_t> model, const CompileOptions& options,
                         const Hooks& hooks = {});

// The same; the bytes are freed as soon as they are read, which matters where they are many.
Result<Compiled> compile(std::vector<uint8_t>&& model, const CompileOptions& options,
                         const Hooks& hooks = {});

// Compiles a graph; `sha256` names the file that it stems from.
Result<Compiled> compile_graph(Graph graph, const CompileOptions& options,
                               const std::string& sha256 = "", const Hooks& hooks = {});

struct ImportedModel {
  Graph graph;
  Diagnostics warnings;
  std::string sha256;
};

// The first part of `compile`: a graph for which legalize has nothing to say.
Result<ImportedModel> read_model(std::span<const uint8_t> model, const CompileOptions& options,
                                 const Hooks& hooks = {});

// "double", "single", "float".
std::string_view name_of(Rounding rounding);
// "speed", "size", "ram".
std::string_view name_of(CompileOptions::Optimize optimize);

}  // namespace ingot
