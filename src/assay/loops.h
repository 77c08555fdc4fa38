// SPDX-License-Identifier: Apache-2.0
// NAME.loops as assay reads it, with a reader of its own: buffers, kernels with their loops and
// accesses, the runner and what it calls. Of the arithmetic on data only the shape is kept.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace ingot::assay {

// A type of elements. Integers have a range.
struct Element {
  std::string_view name;
  int64_t bytes = 1;
  bool is_float = false;
  int64_t low = 0;
  int64_t high = 0;
};
// Null if there is none of that name. There is one object per type.
const Element* find_element(std::string_view name);

// Of a value: `lanes` elements at once.
struct Type {
  const Element* element = nullptr;
  int64_t lanes = 1;
  bool operator==(const Type&) const = default;
};

// As stated for inputs and outputs.
struct TensorType {
  const Element* element = nullptr;
  std::vector<int64_t> shape;
  std::vector<float> scales;
  std::vector<int64_t> zero_points;
};

struct Buffer {
  std::string name;
  const Element* element = nullptr;
  int64_t size_bytes = 0;
  std::string kind;  // "input", "output", "arena", "constant"
  int64_t alignment = 1;
  std::optional<int64_t> offset_bytes;
  std::string pool;    // that the offset counts from; empty: the arena
  std::string lender;  // the input or output that the offset counts from; empty: none
  int64_t tie_group = -1;
  int64_t tie_offset_bytes = 0;
  std::string tensor;
  std::optional<TensorType> type;
  std::vector<uint8_t> data;
};

enum class Op : uint8_t {
  kNumber,    // number
  kVariable,  // slot `number`
  kLoad,      // from place `number` at args[0]
  kOpaque,    // of args: floats, calls of functions
  kNegate,
  kNot,
  kAbs,
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,
  kFloorDivide,
  kFloorModulo,
  kMin,
  kMax,
  kShiftLeft,
  kShiftRight,
  kAnd,
  kOr,
  kXor,
  kEqual,
  kUnequal,
  kLess,
  kLessEqual,
  kSelect,
  kCast,
};

// Nodes of trees; `args` index the expressions of their body.
struct Expr {
  Op op = Op::kNumber;
  Type type;
  int64_t number = 0;
  int64_t alignment = 1;  // of loads
  std::vector<int> args = {};
  int depth = 1;
};

struct Stmt {
  enum class Kind : uint8_t { kLet, kAssign, kStore, kFor, kIf, kCall };
  Kind kind = Kind::kLet;
  int target = -1;  // slot, place of a store, index of a call
  int a = -1;       // value, begin, condition
  int b = -1;       // index of a store, end of a loop
  int64_t step = 1;
  bool reverse = false;
  int64_t alignment = 1;  // of stores
  std::vector<Stmt> body = {};
  std::vector<Stmt> otherwise = {};
};

// A parameter (in the order of the arguments) or, behind those, a local array.
struct Place {
  std::string name;
  const Element* element = nullptr;
  int64_t count = 0;
  bool reads = true;
  bool writes = true;
  bool constant = false;
  int64_t alignment = 1;
};

struct Body {
  std::vector<Place> places;
  std::vector<Type> slots;  // loop variables and scalars; those of the kernel first
  std::vector<Expr> exprs;
  std::vector<Stmt> stmts;
};

struct Kernel {
  Body body;
  size_t num_params = 0;
  size_t num_scalars = 0;
};

struct Call {
  struct Arg {
    std::string buffer;
    int64_t offset_elements = 0;
  };
  struct Scalar {
    Type type;
    std::optional<int64_t> value;  // of integers
  };
  std::string kernel;
  std::vector<Arg> args;
  std::vector<Scalar> scalars;
  // The note.
  bool has_note = false;
  std::string name;
  std::string kind;
  int64_t macs = 0;
  std::vector<int64_t> operators;
};

struct Loops {
  std::string name;
  std::vector<Buffer> buffers;
  std::map<std::string, Kernel> kernels;
  Body runner;
  std::vector<Call> calls;  // in the order of the text: the time points
};

// The program; throws Damage (assay/lexer.h).
Loops read_loops(std::string_view text);

}  // namespace ingot::assay
