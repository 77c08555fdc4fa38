// SPDX-License-Identifier: Apache-2.0
// The interpreter's engine. A kernel is translated once: names become slots of a flat frame,
// expressions a table of nodes, statements a tree of steps. Vectors are evaluated lane by lane,
// always from lane 0 up; what a vector takes from a scalar (an index, a broadcast) or from a call
// is computed at lane 0 and kept in a slot for the others. Functions cannot recurse, so that every
// function has one fixed place for its variables.
#pragma once
#include <map>
#include <span>
#include <string>
#include <vector>

#include "loop/interpret.h"
#include "loop/program.h"

namespace ingot::loop {

union Value {
  int64_t i;
  double f;
};

// What a node does. Unary and binary operations are numbered from these bases on.
enum NodeOp : int32_t {
  kConstNode,
  kVarNode,
  kLoadNode,
  kKeptNode,  // a scalar among vectors: computed at lane 0
  kSelectNode,
  kCallNode,
  kLaneNode,  // of node a; `slot` is the number of the lane
  kPackNode,
  kIntToIntNode,
  kIntToFloatNode,
  kFloatToIntNode,
  kFloatToFloatNode,
  kUnaryNode = 16,
  kBinaryNode = 32,
  kFloatComparisonNode = 64,  // + BinaryOp
};

struct Node {
  int32_t op = kConstNode;
  DType dtype = DType::kInt32;
  int64_t lanes = 1;
  size_t a = 0;  // operands, as indices of nodes
  size_t b = 0;
  size_t c = 0;
  int64_t low = 0;  // an integer result outside [low, high] is a fault
  int64_t high = 0;
  size_t slot = 0;    // of variables, kept values, results of calls
  size_t buffer = 0;  // of loads; of calls, the function
  int64_t alignment = 1;
  Value value{0};
  const ExprNode* source = nullptr;
};

// One statement.
struct Step {
  enum class Kind : uint8_t { kFor, kIf, kSet, kStore, kArray };
  Kind kind = Kind::kSet;
  bool is_float = false;
  bool reverse = false;
  int64_t lanes = 1;
  int64_t step = 1;
  int64_t alignment = 1;
  size_t slot = 0;    // the variable that is set
  size_t buffer = 0;  // stored to; the array
  size_t a = 0;       // begin, condition, index
  size_t b = 0;       // end, value
  std::vector<Step> body = {};
  std::vector<Step> other = {};  // else
  const Stmt* source = nullptr;
};

// A parameter or a local array.
struct Memory {
  std::string name;
  DType dtype = DType::kInt8;
  int64_t num_elements = 0;
  int64_t param = -1;
  bool writable = false;
  uint8_t* base = nullptr;
  std::vector<uint8_t> own = {};       // of a local array
  std::vector<uint8_t> assigned = {};  // of a local array: which elements have a value
};

struct TranslatedFunction {
  enum class State : uint8_t { kUnknown, kInWork, kDone };
  State state = State::kUnknown;
  std::vector<size_t> param_slots;
  std::vector<int64_t> param_lanes;
  std::vector<bool> param_is_float;
  std::vector<Step> body;
  size_t result = 0;
};

// Arguments of a call: where they are evaluated to before the function's parameters are set.
struct CallSite {
  std::vector<size_t> args;
  size_t temporaries = 0;
};

// A translated kernel or expression with the memory of its variables.
struct Translation {
  std::string name;
  std::vector<Node> nodes;
  std::vector<Step> body;
  std::vector<Memory> memories;      // parameters first
  std::vector<size_t> scalar_slots;  // of a kernel's scalars
  std::vector<TranslatedFunction> functions;
  std::vector<CallSite> calls;
  size_t num_slots = 0;
  size_t result = 0;  // of an expression
};

// Both throw InternalError if names are unknown or used against their kind.
Translation translate(const Program& program, const Kernel& kernel);
Translation translate(const Program& program, const Expr& e);

// Runs translations.
class Machine {
 public:
  explicit Machine(Translation translation);

  // `scalars`: literals, one per scalar of the kernel.
  void run(std::span<const std::span<uint8_t>> memory, std::span<const Expr> scalars,
           const InterpretOptions& options);
  int64_t evaluate() { return eval_int(t_.result, 0); }

 private:
  [[noreturn]] void fail(const Node& node, const std::string& what) const;
  [[noreturn]] void fail(const Step& step, const std::string& what) const;

  int64_t eval_int(size_t n, int64_t lane);
  int64_t eval_int_operation(const Node& node, int64_t lane);
  int64_t divide(const Node& node, int64_t a, int64_t b) const;
  int64_t shift(const Node& node, int64_t a, int64_t b) const;
  bool compare_floats(const Node& node, int64_t lane);
  double eval_float(size_t n, int64_t lane);
  double eval_float_operation(const Node& node, int64_t lane);
  double eval_float_function(const Node& node, double a) const;
  int64_t in_range(const Node& node, int64_t value) const;
  int64_t truncated(const Node& node, double value) const;
  Value eval(size_t n, int64_t lane);

  const uint8_t* locate(const Node& node, int64_t lane);
  Value call(const Node& node, int64_t lane);

  void run(const std::vector<Step>& steps);
  void run_for(const Step& step);
  void run_set(const Step& step);
  void run_store(const Step& step);

  Translation t_;
  std::vector<Value> slots_;
  const std::function<void(const MemoryAccess&)>* on_access_ = nullptr;
};

}  // namespace ingot::loop
