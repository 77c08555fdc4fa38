// SPDX-License-Identifier: Apache-2.0
// TVM's forms of the interface (`--api tvm`), as an adapter around NAME_run: NAME_tvm.h and
// NAME_tvm.c, over NAME_tvm_abi.h, which states the layouts that both sides share. The core knows
// nothing of it. docs/output_format.md describes the forms.
#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "emit/symbols.h"

namespace ingot {

// The names of one adapter. Macros are handed out by one table: a tensor may be called "workspace".
struct TvmNames {
  std::string prefix;                              // "tvmgen_kws"
  std::string upper;                               // "TVMGEN_KWS"
  std::map<std::string, std::string> size_macros;  // input or output -> "TVMGEN_KWS_INPUT_1_SIZE"
  std::vector<const loop::Buffer*> params;         // linked parameters; the index is the id
  std::vector<std::string> param_macros;           // "TVMGEN_KWS_PARAM_W_0"
};
TvmNames tvm_names(const loop::Program& program, const EmitOptions& options,
                   const Symbols& symbols);

// What can be wrong with a call beside what NAME_run itself finds: "SHAPE" for
// TVMGEN_KWS_ERROR_SHAPE, its value, and when it is returned.
struct TvmError {
  std::string_view name;
  int64_t value;
  std::string_view meaning;
};
const std::vector<TvmError>& tvm_errors();

// What is asked of TVMBackendAllocWorkspace: the arena, and what aligning it may cost.
int64_t tvm_workspace_bytes(const EmitOptions& options);

// `int32_t tvmgen_kws_run(...)` without what follows.
std::string tvm_prototype(const EmitOptions& options, const TvmNames& names);
// `struct tvmgen_kws_inputs tvmgen_kws_map_inputs(...)`, or that of the outputs.
std::string tvm_map_prototype(const TvmNames& names, bool inputs);
std::string tvm_lookup_prototype(const std::string& function);

std::string emit_tvm_header(const loop::Program& program, const EmitOptions& options,
                            const Symbols& symbols);
std::string emit_tvm_code(const loop::Program& program, const EmitOptions& options,
                          const Symbols& symbols);

// All files of the adapter. options.tvm is set; where inputs and outputs lie in the arena, the
// interface is kC and the workspace the caller's.
std::vector<CFile> emit_tvm(const loop::Program& program, const EmitOptions& options,
                            const Symbols& symbols);

}  // namespace ingot
