// SPDX-License-Identifier: Apache-2.0
// NAME.c: helpers, functions and kernels that the runner needs, each before its first use.
#include <algorithm>
#include <set>
#include <sstream>

#include "emit/block_printer.h"
#include "emit/helpers.h"
#include "emit/literals.h"
#include "emit/symbols.h"
#include "emit/unused.h"
#include "support/check.h"

namespace ingot {
namespace {

Names file_scope_names(const loop::Program& program, const Symbols& symbols) {
  Names names;
  names.functions = symbols.functions;
  names.prefix = symbols.upper;
  for (const loop::Function& function : program.functions) {
    std::vector<loop::Type>& types = names.parameters[function.name];
    for (const loop::Function::Parameter& parameter : function.params) {
      types.push_back(parameter.type);
    }
  }
  return names;
}

// Names that locals must not hide.
std::vector<std::string> file_scope_identifiers(const Symbols& symbols) {
  std::vector<std::string> taken = all_helpers();
  for (const std::string& type : vector_type_names()) taken.push_back(type);
  for (const auto& [name, symbol] : symbols.functions) taken.push_back(symbol);
  return taken;
}

std::string type_of(loop::Type type, Needs& needs) {
  return is_wide(type) ? needs.vectors.type(type) : c_type_of(type);
}

// "%1" of an expression in place of the first parameter, and so on.
std::string with_arguments(const std::string& text, const loop::Function& function,
                           const Names& names) {
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      result += text[i];
      continue;
    }
    const auto parameter = static_cast<size_t>(text.at(++i) - '1');
    result += names.scalars.at(function.params.at(parameter).name);
  }
  return result;
}

// A register: of the core, or a single-precision one of Arm's floating-point unit, or of a vector.
std::string constraint_of(loop::Type type) {
  if (is_wide(type)) return "w";
  return type == loop::kFloat32 ? "t" : "r";
}

// The instruction that computes the function.
void print_assembly(CText& out, const loop::Function& function, const Names& names, Needs& needs) {
  const size_t count = function.params.size();
  const bool in_place = function.assembly.find("%" + std::to_string(count)) == std::string::npos &&
                        function.assembly.find("%q" + std::to_string(count)) == std::string::npos;
  std::vector<std::string> constraints;  // of %0, %1 ... that are given
  std::string clobbered;
  std::istringstream words(function.constraints);
  for (std::string word; std::getline(words, word, ',');) {
    if (word.starts_with('~')) {
      clobbered += (clobbered.empty() ? " : \"" : ", \"") + word.substr(1) + "\"";
    } else {
      constraints.push_back(word);
    }
  }
  const auto operand = [&](size_t number, const std::string& access, loop::Type type,
                           const std::string& name) {
    const bool given = number < constraints.size();
    return "\"" + access + (given ? constraints[number] : constraint_of(type)) + "\"(" + name + ")";
  };
  std::string result = "result";
  std::string inputs;
  size_t number = 0;
  for (size_t i = 0; i < count; ++i) {
    const std::string& name = names.scalars.at(function.params[i].name);
    if (in_place && i == 0) {
      result = name;
      continue;
    }
    inputs += inputs.empty() ? "" : ", ";
    inputs += operand(++number, "", function.params[i].type, name);
  }
  if (!in_place) out.line(type_of(function.result->type, needs) + " result;");
  const std::string keyword = function.movable ? "__asm__(\"" : "__asm__ volatile(\"";
  out.line(keyword + function.assembly +
           "\" : " + operand(0, in_place ? "+" : "=", function.result->type, result) + " : " +
           inputs + clobbered + ");");
  out.line("return " + result + ";");
}

// What a target has for the function, where it is compiled for that.
void print_instruction(CText& out, const loop::Function& function, const Names& names,
                       Needs& needs) {
  out.raw("#if " + function.condition);
  if (function.expression.empty()) {
    print_assembly(out, function, names, needs);
  } else {
    out.line("return " + with_arguments(function.expression, function, names) + ";");
  }
  out.raw("#else");
}

void print_function(CText& out, const loop::Function& function, Names names, const Symbols& symbols,
                    Needs& needs) {
  NameTable table(file_scope_identifiers(symbols));
  const Usage usage = usage_of(function.body, function.result);
  std::string parameters;
  std::vector<std::string> unread;
  for (const loop::Function::Parameter& parameter : function.params) {
    const std::string name = table.add_identifier(parameter.name);
    names.scalars[parameter.name] = name;
    if (parameter.type.dtype == DType::kBool) needs.boolean = true;
    parameters += (parameters.empty() ? "" : ", ") + type_of(parameter.type, needs) + " " + name;
    if (!usage.read.contains(parameter.name)) unread.push_back(name);
  }
  if (!function.comment.empty()) out.comment(comment_text(function.comment));
  out.open("static inline " + type_of(function.result->type, needs) + " " +
           symbols.functions.at(function.name) + "(" + (parameters.empty() ? "void" : parameters) +
           ")");
  for (const std::string& name : unread) out.line("(void)" + name + ";");
  const bool has_instruction = !function.assembly.empty() || !function.expression.empty();
  if (has_instruction) print_instruction(out, function, names, needs);
  BlockPrinter body(out, std::move(names), std::move(table), usage, needs);
  body.print(function.body);
  body.print_return(function.result);
  if (has_instruction) out.raw("#endif");
  out.close();
}

// Which operators of the model call a kernel, by the kernel's name.
std::map<std::string, std::vector<const loop::CallNote*>> callers_of_kernels(
    const loop::Program& program) {
  std::map<std::string, std::vector<const loop::CallNote*>> callers;
  size_t next_note = 0;
  for_each_call(program.runner, [&](const loop::CallKernel& call) {
    std::vector<const loop::CallNote*>& notes = callers[call.kernel];
    if (next_note < program.notes.size()) notes.push_back(&program.notes[next_note]);
    ++next_note;
  });
  return callers;
}

std::vector<std::string> kernel_comment(const loop::Kernel& kernel,
                                        const std::vector<const loop::CallNote*>& notes) {
  constexpr size_t kMostNamed = 12;
  std::vector<std::string> lines;
  if (!kernel.comment.empty()) lines.push_back(comment_text(kernel.comment));
  std::string line = "For ";
  for (size_t i = 0; i < notes.size() && i < kMostNamed; ++i) {
    const loop::CallNote& note = *notes[i];
    if (i > 0) line += ", ";
    line += note.name.empty() ? note.kind : model_text(note.name) + " (" + note.kind + ")";
    if (!note.operators.empty()) line += ", operator " + std::to_string(note.operators.front());
  }
  if (notes.size() > kMostNamed) {
    line += " and " + std::to_string(notes.size() - kMostNamed) + " more";
  }
  if (!notes.empty()) lines.push_back(line + ".");
  return lines;
}

void print_kernel(CText& out, const loop::Program& program, const loop::Kernel& kernel, Names names,
                  const Symbols& symbols, Needs& needs) {
  NameTable table(file_scope_identifiers(symbols));
  const Usage usage = usage_of(kernel.body);
  std::string parameters;
  std::vector<std::string> unused;
  for (const loop::Param& param : kernel.params) {
    const std::string name = table.add_identifier(param.name);
    names.arrays[param.name] = name;
    if (!parameters.empty()) parameters += ", ";
    if (param.access == loop::Access::kRead) parameters += "const ";
    parameters += c_element_type(param.dtype) + " *";
    if (param.constant) parameters += symbols.upper + "_RESTRICT ";
    parameters += name;
    if (!usage.read.contains(param.name) && !usage.stored.contains(param.name)) {
      unused.push_back(name);
    }
  }
  for (const loop::Function::Parameter& scalar : kernel.scalars) {
    const std::string name = table.add_identifier(scalar.name);
    names.scalars[scalar.name] = name;
    if (!parameters.empty()) parameters += ", ";
    parameters += c_type_of(scalar.type) + " " + name;
  }
  out.open("static " + symbols.upper + "_NOINLINE void " + kernel_symbol(program, kernel) + "(" +
           (parameters.empty() ? "void" : parameters) + ")");
  for (const std::string& name : unused) out.line("(void)" + name + ";");
  BlockPrinter(out, std::move(names), std::move(table), usage, needs).print(kernel.body);
  out.close();
}

// The functions in needs.functions and those that they call, callees first.
void print_functions(CText& out, const loop::Program& program, const Symbols& symbols,
                     const VectorExtension& extension, Needs& needs) {
  const Names names = file_scope_names(program, symbols);
  std::set<std::string> printed;
  const std::function<void(const std::string&)> print_after_callees = [&](const std::string& name) {
    if (!printed.insert(name).second) return;
    const loop::Function* function = loop::find_function(program, name);
    CHECK(function != nullptr);
    if (!function->spelling.empty()) return;
    CText text;
    Needs own(extension);
    print_function(text, *function, names, symbols, own);
    for (const std::string& callee : own.functions) print_after_callees(callee);
    needs.merge(own);
    out.blank();
    out.raw(text.str().substr(0, text.str().size() - 1));
  };
  const std::set<std::string> called = needs.functions;
  for (const std::string& name : called) print_after_callees(name);
}

// The compiler's words for what kernels need.
constexpr std::string_view kNoinline = R"(
/* Kernels stay functions of their own: the same bytes of the arena hold other types in each. */
#if defined(__GNUC__) || defined(__clang__)
#define @_NOINLINE __attribute__((noinline))
#elif defined(_MSC_VER)
#define @_NOINLINE __declspec(noinline)
#else
#define @_NOINLINE
#endif)";
constexpr std::string_view kRestrict = R"(
/* Constants are not written through any other pointer. */
#if defined(__GNUC__) || defined(__clang__) || defined(_MSC_VER)
#define @_RESTRICT __restrict
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 199901L
#define @_RESTRICT restrict
#else
#define @_RESTRICT
#endif)";
constexpr std::string_view kRegisters = R"(
/* GCC leaves half of this core's registers empty unless it is told what belongs there. */
#if defined(__GNUC__) && !defined(__clang__) && !defined(__cplusplus) && \
    defined(__ARM_ARCH_6M__)
#define @_KEPT register
#define @_IN(name) __asm__(name)
#else
#define @_KEPT
#define @_IN(name)
#endif)";
constexpr std::string_view kUnused = R"(
/* Functions that are called on some machines only. */
#if defined(__GNUC__) || defined(__clang__)
#define @_UNUSED __attribute__((unused))
#else
#define @_UNUSED
#endif)";
constexpr std::string_view kFastMath = R"(
/* Results depend on the order of operations; define the macro if other last digits will do. */
#if defined(__FAST_MATH__) && !defined(@_ALLOW_FAST_MATH)
#error "this file must not be compiled with -ffast-math or -Ofast"
#endif)";
constexpr std::string_view kContraction = R"(
/* Every floating-point operation rounds once. */
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#endif)";

void print_fixed(CText& out, std::string_view text, const Symbols& symbols) {
  std::string result;
  for (const char c : text.substr(1)) {
    if (c == '@') {
      result += symbols.upper;
    } else {
      result += c;
    }
  }
  out.blank();
  out.raw(result);
}

void print_includes(CText& out, const EmitOptions& options, const Symbols& symbols,
                    const Needs& needs) {
  out.raw("#include \"" + symbols.name + ".h\"");
  out.blank();
  if (needs.math) out.raw("#include <math.h>");
  if (needs.boolean) out.raw("#include <stdbool.h>");
  out.raw("#include <stddef.h>");
  out.raw("#include <stdint.h>");
  if (needs.string) out.raw("#include <string.h>");
  for (const std::string& header : options.headers) out.raw("#include <" + header + ">");
  if (needs.vectors.empty() || options.vectors.header.empty()) return;
  out.raw("#if " + options.vectors.condition);
  out.raw("#include <" + options.vectors.header + ">");
  out.raw("#endif");
}

// The greatest object there is where addresses have 32 bits.
constexpr int64_t kLargestObject = (int64_t{1} << 31) - 1;

void print_assumptions(CText& out, const EmitOptions& options, const Symbols& symbols,
                       const Needs& needs) {
  out.blank();
  out.comment("What this file assumes of the machine; an array of negative size if it is not so.");
  const auto assume = [&](const std::string& what, const std::string& condition) {
    out.line("typedef char " + symbols.name + "_assert_" + what + "[" + condition + " ? 1 : -1];");
  };
  assume("int_has_32_bits", "sizeof(int) >= 4");
  if (needs.shifts) assume("right_shift_is_arithmetic", "((-1) >> 1) == -1");
  if (needs.floats) assume("float_is_binary32", "sizeof(float) == 4");
  int64_t largest = options.arena_bytes;
  for (const EmitOptions::Pool& pool : options.pools) largest = std::max(largest, pool.bytes);
  if (largest > kLargestObject)
    assume("memory_is_addressable", "SIZE_MAX / 2 >= " + std::to_string(largest));
}

void print_helpers(CText& out, const Symbols& symbols, const Needs& needs) {
  for (const std::string& helper : needs.helpers) {
    out.blank();
    out.raw(helper_text(helper));
  }
  needs.vectors.print(out, symbols.name);
}

}  // namespace

void Needs::merge(const Needs& other) {
  vectors.merge(other.vectors);
  helpers.insert(other.helpers.begin(), other.helpers.end());
  functions.insert(other.functions.begin(), other.functions.end());
  math = math || other.math;
  string = string || other.string;
  boolean = boolean || other.boolean;
  floats = floats || other.floats;
  shifts = shifts || other.shifts;
  registers = registers || other.registers;
}

std::string emit_code(const loop::Program& program, const EmitOptions& options,
                      const Symbols& symbols) {
  Needs needs(options.vectors);
  CText kernels;
  const auto callers = callers_of_kernels(program);
  const Names names = file_scope_names(program, symbols);
  bool any_constant = false;
  for (const loop::Kernel& kernel : program.kernels) {
    const auto notes = callers.find(kernel.name);
    if (notes == callers.end()) continue;
    kernels.blank();
    const std::vector<std::string> about = kernel_comment(kernel, notes->second);
    if (!about.empty()) kernels.comment(about);
    print_kernel(kernels, program, kernel, names, symbols, needs);
    for (const loop::Param& param : kernel.params) any_constant = any_constant || param.constant;
  }
  CText runner;
  print_runner(runner, program, options, symbols, needs);
  CText functions;
  print_functions(functions, program, symbols, options.vectors, needs);

  CText body;
  print_helpers(body, symbols, needs);
  for (const CText* part : {&functions, &kernels, &runner}) {
    if (part->str().empty()) continue;
    body.blank();
    body.raw(part->str().substr(0, part->str().size() - 1));
  }
  const std::set<std::string> conditional = conditional_functions(body.str());

  CText out;
  print_head(out, program, options, "the kernels of the model and the function that runs them.");
  print_includes(out, options, symbols, needs);
  print_assumptions(out, options, symbols, needs);
  if (!callers.empty()) print_fixed(out, kNoinline, symbols);
  if (any_constant) print_fixed(out, kRestrict, symbols);
  if (needs.registers) print_fixed(out, kRegisters, symbols);
  if (needs.floats) print_fixed(out, kFastMath, symbols);
  if (needs.floats) print_fixed(out, kContraction, symbols);
  if (!conditional.empty()) print_fixed(out, kUnused, symbols);
  print_constant_declarations(out, program, symbols);
  out.blank();
  return out.str() + with_attribute(body.str(), conditional, symbols.upper + "_UNUSED");
}

}  // namespace ingot
