// SPDX-License-Identifier: Apache-2.0
// Loop programs: buffers, functions, kernels and one runner. What the machine does.
//
// A kernel is a nest of loops over its parameters; it knows nothing of where they lie. The runner
// is a tree of statements over the program's buffers; the caller's inputs and outputs are buffers
// of their own kinds, which the planner never gets. Programs print and parse (loop/text.h), run
// (loop/interpret.h), and are proved in bounds (loop/verify.h); emit/ prints them as C.
#pragma once
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "loop/expr.h"
#include "loop/requantization.h"
#include "tensor/bytes.h"
#include "tensor/type.h"

namespace ingot::loop {

struct Stmt;
using Block = std::vector<Stmt>;

// for (variable = begin; variable < end; variable += step); in reverse, the same values from the
// last to the first. begin and end are int32 and are evaluated once.
struct For {
  std::string variable;
  Expr begin;
  Expr end;
  int64_t step = 1;
  bool reverse = false;
  Block body;
};
struct If {
  Expr condition;
  Block then_body;
  Block else_body;
};
// A named scalar (or vector) with its first value; visible to the end of its block.
struct Let {
  std::string name;
  Expr value;
  // Where a C compiler should keep it if it has registers of that name ("r8"); empty: anywhere.
  std::string register_name = {};
};
struct Assign {
  std::string name;
  Expr value;
};
// A small local array (registers, at most 256 bytes in a kernel altogether); uninitialised.
struct LocalArray {
  std::string name;
  DType dtype = DType::kInt32;
  int64_t num_elements = 0;
};
// Elements from `index` on become the lanes of value.
struct Store {
  std::string buffer;
  Expr index;
  Expr value;
  int64_t alignment = 1;
};
struct Comment {
  std::string text;
};
// Where a kernel's parameter points to: so many elements behind the start of a buffer of the
// program.
struct BufferRef {
  std::string buffer;
  int64_t offset_elements = 0;
  bool operator==(const BufferRef&) const = default;
};
// Only in the runner. One BufferRef per parameter of the kernel, one literal per scalar.
struct CallKernel {
  std::string kernel;
  std::vector<BufferRef> args;
  std::vector<Expr> scalars = {};
};

struct Stmt {
  std::variant<For, If, Let, Assign, LocalArray, Store, Comment, CallKernel> kind;

  template <class T>
  requires(!std::is_same_v<std::remove_cvref_t<T>, Stmt>) Stmt(T s) : kind(std::move(s)) {}
};

enum class Access : uint8_t { kRead, kWrite, kReadWrite };

// A pointer parameter of a kernel: exactly `num_elements` may be touched, aligned to `alignment`
// bytes.
struct Param {
  std::string name;
  DType dtype = DType::kInt8;
  int64_t num_elements = 0;
  Access access = Access::kRead;
  int64_t alignment = 1;
  // The parameter is always bound to constants: emit/ may print it as such (flash address spaces).
  bool constant = false;
  bool operator==(const Param&) const = default;
};

// A scalar function, printed as a static function of C; the meaning of a target's intrinsic is one
// too, with `spelling` set: then the C calls that instead of printing the body.
struct Function {
  struct Parameter {
    std::string name;
    Type type;
  };
  std::string name;
  std::vector<Parameter> params;
  Block body;  // Let, Assign, If, For
  Expr result;
  std::string comment;
  std::string spelling;
  // What the C has in place of the body where the preprocessor's `condition` holds: an expression
  // over %1 ..., or one instruction as inline assembly. There %0 is the result, %1 ... are the
  // parameters in order; if there is no operand for the last one, the first parameter is updated in
  // place, as %0. `constraints` are those of %0, %1 ..., separated by commas; if there are none,
  // all are core registers. ~NAME is a register that it overwrites besides.
  std::string assembly = {};
  std::string condition = {};
  std::string constraints = {};
  std::string expression = {};
  // The compiler may move the instruction; otherwise it stays among the others where it stands.
  bool movable = false;
};

struct Kernel {
  std::string name;  // a C identifier without the model's prefix, unique: "conv_2d_3"
  std::vector<Param> params;
  Block body;
  std::string comment;  // what it computes, for people, without model names: kernels may be shared
  // Parameters after `params` for values in which its calls differ: zero points, multipliers.
  std::vector<Function::Parameter> scalars = {};
};

enum class BufferKind : uint8_t {
  kInput,     // the caller's, read only (unless inputs may be reused)
  kOutput,    // the caller's, exact in size and type
  kArena,     // planned
  kConstant,  // flash
};

struct Buffer {
  std::string name;  // a C identifier, unique
  DType dtype = DType::kInt8;
  int64_t num_elements = 0;
  BufferKind kind = BufferKind::kArena;
  int64_t alignment = 1;  // bytes; of the arena's and constant buffers, at least the element's size
  std::string tensor;     // the model's tensor that it holds, "" for scratch and constants of ours
  std::optional<TensorType> type;  // of inputs and outputs: shape and quantisation
  std::optional<Bytes> data;       // of constants
  std::optional<int64_t>
      offset_bytes;  // in the arena, once planned (inputs and outputs too, with --io arena)
  // The memory that the offset counts from: a pool of the caller's; empty: the arena.
  std::string pool = {};
  // Buffers of one tied group lie at a fixed relative offset (concatenation in place, slices).
  int64_t tie_group = -1;
  int64_t tie_offset_bytes = 0;

  int64_t size_bytes() const { return num_elements * size_in_bytes(dtype); }
};

// Weights that a schedule has made more of than there were, to save instructions.
struct Expansion {
  std::string algorithm;  // "Winograd F(2x2, 3x3)"
  int64_t weights_bytes = 0;
  int64_t weights_bytes_otherwise = 0;  // of the schedule that it replaces
  int64_t scratch_bytes = 0;            // of the arena, during the call
  int64_t instructions = 0;             // estimated, of one call
  int64_t instructions_otherwise = 0;
  bool operator==(const Expansion&) const = default;
};

// What a call of the runner computes, for comments, reports and NAME.json.
struct CallNote {
  std::string name;                // of the node
  std::string kind;                // "conv_2d"
  std::vector<int64_t> operators;  // of the model file
  int64_t macs = 0;
  std::optional<Requantization> requantization = {};  // of sums with constant weights
  std::vector<ProvedSum> sums = {};                   // also those that are fused into its stores
  std::optional<Expansion> expansion = {};
};

struct Program {
  std::string name;             // C prefix of the model
  std::vector<Buffer> buffers;  // inputs in model order, outputs in model order, then the others
  std::vector<Function> functions;
  std::vector<Kernel> kernels;
  Block runner;                 // For, If, CallKernel, Comment
  std::vector<CallNote> notes;  // one per CallKernel in textual order
};

const Buffer* find_buffer(const Program& program, const std::string& name);
const Kernel* find_kernel(const Program& program, const std::string& name);
const Function* find_function(const Program& program, const std::string& name);

// Of all constants.
int64_t constant_bytes(const Program& program);

// Structural equality of statements, names included.
bool equal(const Block& a, const Block& b);
bool equal(const Program& a, const Program& b);

}  // namespace ingot::loop
