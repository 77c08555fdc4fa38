// SPDX-License-Identifier: Apache-2.0
// What the parts of the emitter share: the program with its options, and the names at file scope.
#pragma once
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "emit/emit.h"
#include "emit/text.h"

namespace ingot {

struct Symbols {
  std::string name;                              // of the model: "kws"
  std::string upper;                             // of its macros: "KWS"
  std::map<std::string, std::string> constants;  // buffer -> "kws_conv_weights"
  std::map<std::string, std::string> functions;  // of the program -> static function
};

Symbols symbols_of(const loop::Program& program);

std::string upper_case(std::string_view text);

// The comment at the head of each of the three files; `purpose` says what this one is.
void print_head(CText& out, const loop::Program& program, const EmitOptions& options,
                const std::string& purpose);

// Visits the calls of a runner in textual order.
void for_each_call(const loop::Block& runner,
                   const std::function<void(const loop::CallKernel&)>& visit);

// Declares the constants that the runner passes on: between extern "C" braces in C++.
void print_constant_declarations(CText& out, const loop::Program& program, const Symbols& symbols);

// The C expression for the first element of a constant.
std::string constant_pointer(const loop::Buffer& buffer, const Symbols& symbols);

// Whether the constant holds an infinity or a NaN; it is then stored as bits, in a union.
bool needs_bits(const loop::Buffer& buffer);

std::string emit_header(const loop::Program& program, const EmitOptions& options,
                        const Symbols& symbols);
std::string emit_code(const loop::Program& program, const EmitOptions& options,
                      const Symbols& symbols);
FileText emit_weights(const loop::Program& program, const EmitOptions& options,
                      const Symbols& symbols);

// Prints NAME_run with its comment.
struct Needs;
void print_runner(CText& out, const loop::Program& program, const EmitOptions& options,
                  const Symbols& symbols, Needs& needs);

// `int32_t kws_run(...)` without what follows.
std::string runner_prototype(const EmitOptions& options, const Symbols& symbols);

}  // namespace ingot
