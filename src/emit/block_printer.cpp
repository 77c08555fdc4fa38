// SPDX-License-Identifier: Apache-2.0
#include "emit/block_printer.h"

#include "emit/literals.h"
#include "support/arithmetic.h"
#include "support/check.h"

namespace ingot {
namespace {

using loop::as;
using loop::BinaryOp;
using loop::Expr;

// The C operator that with '=' appended does `a = a op b`, "" if there is none.
std::string compound_operator(BinaryOp op) {
  switch (op) {
    case BinaryOp::kAdd:
      return "+";
    case BinaryOp::kSub:
      return "-";
    case BinaryOp::kMul:
      return "*";
    case BinaryOp::kAnd:
      return "&";
    case BinaryOp::kOr:
      return "|";
    case BinaryOp::kXor:
      return "^";
    default:
      return "";
  }
}

// Whether C computes in this type without promoting it first.
bool is_unpromoted(loop::Type type) {
  return type.is_scalar() && type.dtype != DType::kFloat16 && size_in_bytes(type.dtype) >= 4;
}

// " += b" for a value `target op b`, or " = value".
template <class IsTarget>
std::string assignment(ExprPrinter& exprs, const Expr& value, const std::string& plain_value,
                       const IsTarget& is_target) {
  const auto* operation = as<loop::BinaryExpr>(value);
  if (!operation || !is_unpromoted(value->type) || !is_target(operation->a)) {
    return " = " + plain_value;
  }
  std::string op = compound_operator(operation->op);
  if (op.empty()) return " = " + plain_value;
  std::string operand = exprs.print(operation->b);
  if (op == "+" && as<loop::IntLit>(operation->b) && operand.front() == '-') {
    op = "-";
    operand.erase(0, 1);
  }
  return " " + op + "= " + operand;
}

}  // namespace

BlockPrinter::BlockPrinter(CText& out, Names names, NameTable table, Usage usage, Needs& needs,
                           PrintCall print_call)
    : out_(out),
      names_(std::move(names)),
      table_(std::move(table)),
      usage_(std::move(usage)),
      needs_(needs),
      print_call_(std::move(print_call)),
      exprs_(names_, ranges_, needs_) {}

void BlockPrinter::print(const loop::Block& block) {
  for (const loop::Stmt& stmt : block) {
    std::visit([&](const auto& kind) { print(kind); }, stmt.kind);
  }
}

void BlockPrinter::print_return(const Expr& result) {
  if (result->type.dtype == DType::kBool) needs_.boolean = true;
  out_.line("return " + exprs_.print_for_scalar(result) + ";");
}

std::string BlockPrinter::name_scalar(const std::string& name) {
  std::string& known = names_.scalars[name];
  if (known.empty()) known = table_.add_identifier(name);
  return known;
}

bool BlockPrinter::is_plain_bound(const Expr& bound) const {
  if (as<loop::IntLit>(bound)) return true;
  if (const auto* variable = as<loop::Var>(bound)) return !usage_.assigned.contains(variable->name);
  const auto* operation = as<loop::BinaryExpr>(bound);
  if (!operation) return false;
  const bool cheap = operation->op == BinaryOp::kAdd || operation->op == BinaryOp::kSub ||
                     operation->op == BinaryOp::kMul;
  return cheap && is_plain_bound(operation->a) && is_plain_bound(operation->b);
}

std::string BlockPrinter::for_header(const loop::For& loop) {
  const std::string begin = exprs_.print_for_scalar(loop.begin);
  const std::string end = exprs_.print_for_scalar(loop.end);
  const std::string i = name_scalar(loop.variable);
  std::string header = "for (int32_t " + i + " = " + begin;
  if (is_plain_bound(loop.end)) {
    header += "; " + i + " < " + end;
  } else {
    std::string& name = ends_[loop.variable];
    if (name.empty()) name = table_.add_identifier(i + "_end");
    header += ", " + name + " = " + end + "; " + i + " < " + name;
  }
  return header + "; " + (loop.step == 1 ? "++" + i : i + " += " + std::to_string(loop.step)) + ")";
}

// The last value of a reversed loop is begin + floor((end - 1 - begin) / step) * step.
std::string BlockPrinter::reverse_header(const loop::For& loop) {
  const auto* first = as<loop::IntLit>(loop.begin);
  const auto* limit = as<loop::IntLit>(loop.end);
  const std::string i = name_scalar(loop.variable);
  std::string header = "for (int32_t ";
  std::string begin = exprs_.print_operand(loop.begin);
  if (!is_plain_bound(loop.begin)) {
    std::string& name = ends_[loop.variable];
    if (name.empty()) name = table_.add_identifier(i + "_begin");
    header += name + " = " + exprs_.print_for_scalar(loop.begin) + ", ";
    begin = name;
  }
  const std::string end_minus_1 = exprs_.print(loop.end + -1);
  header += i + " = ";
  if (first && limit) {
    const int64_t steps = floor_div(limit->value - 1 - first->value, loop.step);
    header += int_literal(first->value + steps * loop.step, DType::kInt32);
  } else if (loop.step == 1) {
    header += end_minus_1;
  } else {
    const std::string step = std::to_string(loop.step);
    const bool from_0 = first && first->value == 0;
    needs_.helpers.insert("floor_div_int32");
    header += "floor_div_int32(" + end_minus_1 + (from_0 ? "" : " - " + begin) + ", " + step +
              ") * " + step + (from_0 ? "" : " + " + begin);
  }
  header += "; " + i + " >= " + (is_plain_bound(loop.begin) ? exprs_.print(loop.begin) : begin);
  return header + "; " + (loop.step == 1 ? "--" + i : i + " -= " + std::to_string(loop.step)) + ")";
}

void BlockPrinter::print(const loop::For& loop) {
  CHECK(loop.step > 0);
  const std::string header = loop.reverse ? reverse_header(loop) : for_header(loop);
  ranges_.set_loop(loop);
  out_.open(header);
  print(loop.body);
  out_.close();
}

void BlockPrinter::print(const loop::If& branch) {
  std::string keyword = "if (";
  const loop::If* rest = &branch;
  while (true) {
    const std::string condition = keyword + exprs_.print(rest->condition) + ")";
    out_.open(condition);
    print(rest->then_body);
    if (rest->else_body.empty()) break;
    const auto* next =
        rest->else_body.size() == 1 ? std::get_if<loop::If>(&rest->else_body[0].kind) : nullptr;
    if (!next) {
      out_.reopen("} else");
      print(rest->else_body);
      break;
    }
    out_.back();
    keyword = "} else if (";
    rest = next;
  }
  out_.close();
}

void BlockPrinter::print(const loop::Let& let) {
  if (!usage_.read.contains(let.name)) return;
  const std::string value = exprs_.print_for_scalar(let.value);
  const bool constant = !usage_.assigned.contains(let.name);
  if (constant && let.value->type.is_scalar() && !is_float(let.value->type.dtype)) {
    ranges_.set(let.name, ranges_.of(let.value));
  }
  if (let.value->type.dtype == DType::kBool) needs_.boolean = true;
  const std::string type = exprs_.type_of(let.value->type);
  out_.line((constant ? "const " : "") + type + " " + name_scalar(let.name) + " = " + value + ";");
}

void BlockPrinter::print(const loop::Assign& assign) {
  if (!usage_.read.contains(assign.name)) return;
  const auto is_target = [&](const Expr& e) {
    const auto* variable = as<loop::Var>(e);
    return variable && variable->name == assign.name;
  };
  out_.line(names_.scalars.at(assign.name) +
            assignment(exprs_, assign.value, exprs_.print_for_scalar(assign.value), is_target) +
            ";");
}

void BlockPrinter::print(const loop::LocalArray& array) {
  if (!usage_.read.contains(array.name)) return;
  const std::string name = table_.add_identifier(array.name);
  names_.arrays[array.name] = name;
  out_.line(c_element_type(array.dtype) + " " + name + "[" + std::to_string(array.num_elements) +
            "];");
}

void BlockPrinter::print(const loop::Store& store) {
  if (usage_.local_arrays.contains(store.buffer) && !usage_.read.contains(store.buffer)) return;
  const std::string element =
      names_.arrays.at(store.buffer) + "[" + exprs_.print(store.index) + "]";
  if (is_wide(store.value->type)) {
    out_.line(exprs_.print_vector_store(element, store.value));
    return;
  }
  if (store.value->type.packed) {
    needs_.helpers.insert("store_word");
    needs_.string = true;
    out_.line("store_word(&" + element + ", " + exprs_.print(store.value) + ");");
    return;
  }
  const auto is_target = [&](const Expr& e) {
    const auto* load = as<loop::Load>(e);
    return load && load->buffer == store.buffer && loop::equal(load->index, store.index);
  };
  out_.line(element +
            assignment(exprs_, store.value, exprs_.print_for_store(store.value), is_target) + ";");
}

void BlockPrinter::print(const loop::Comment& comment) { out_.comment(comment_text(comment.text)); }

void BlockPrinter::print(const loop::CallKernel& call) {
  CHECK(print_call_ != nullptr);
  print_call_(call);
}

}  // namespace ingot
