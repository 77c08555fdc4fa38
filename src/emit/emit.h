// SPDX-License-Identifier: Apache-2.0
// A loop program as C: NAME.h, NAME.c and NAME_weights.c. docs/output_format.md describes them.
//
// The printer knows no operators: what stands in the C is what stands in the program, statement by
// statement. It takes any program that the verifier of loop/ accepts, with an offset for each
// buffer in the arena, and CHECKs what it relies on.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "loop/program.h"
#include "support/file_text.h"
#include "target/target.h"

namespace ingot {

struct EmitOptions {
  enum class Io { kCaller, kArena };
  enum class Weights { kC };

  Io io = Io::kCaller;
  // The runner may overwrite the caller's inputs.
  bool reuse_inputs = false;
  Weights weights = Weights::kC;

  // TVM's forms of the interface beside the normal one (emit/tvm.h); only with Io::kCaller.
  struct Tvm {
    enum class Interface { kC, kPacked };
    enum class Workspace { kAllocator, kCaller };

    Interface interface = Interface::kC;          // what tvmgen_NAME_run takes
    Workspace workspace = Workspace::kAllocator;  // where it has its arena from
    std::string name = {};                        // in place of NAME there; empty: NAME
  };
  std::optional<Tvm> tvm = {};

  // For the comment at the head of each file.
  std::string ingot_version;
  std::string model_sha256;
  std::string options_text;  // the options of `compile` that shaped the program

  int64_t arena_bytes = 0;
  int64_t arena_alignment = 16;  // a power of two

  // The caller's memories beside the arena; with any, NAME_run takes a NAME_memory.
  struct Pool {
    std::string name;  // a C name, not "arena"
    int64_t bytes = 0;
    int64_t alignment = 1;  // a power of two
  };
  std::vector<Pool> pools = {};

  // Headers that the spellings of intrinsics need.
  std::vector<std::string> headers = {};
  // The target's own words for vectors.
  VectorExtension vectors = {};
  // A statement that stands between two calls of the runner, for measuring each; empty: none.
  std::string step_mark = {};
};

struct CFile {
  std::string name;
  FileText text;
};

// In the order NAME.h, NAME.c, NAME_weights.c, then what options.tvm adds. program.name is a model
// name (emit/names.h).
std::vector<CFile> emit_c(const loop::Program& program, const EmitOptions& options);

// The C function that prints kernel `kernel`: "kws_conv_2d_0".
std::string kernel_symbol(const loop::Program& program, const loop::Kernel& kernel);

}  // namespace ingot
