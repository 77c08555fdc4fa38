// SPDX-License-Identifier: Apache-2.0
// Printing of loop programs. The grammar is in loop/text.h; parse.cpp is the inverse.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "loop/memory.h"
#include "loop/operators.h"
#include "loop/text.h"
#include "support/check.h"

namespace ingot::loop {
namespace {

std::string quote_text(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20 || byte >= 0x7f) {
      out += fmt::format("\\x{:02x}", byte);
    } else {
      out += c;
    }
  }
  return out + "\"";
}

std::string literal(double value, Type type) {
  std::string text;
  if (std::isnan(value)) {
    text = "nan";
  } else if (std::isinf(value)) {
    text = value < 0 ? "-inf" : "inf";
  } else if (type.dtype == DType::kFloat32) {
    text = fmt::format("{}", static_cast<float>(value));
  } else {
    text = fmt::format("{}", value);
  }
  // Infinities and NaN always carry a type, which tells them from variables of that name.
  if (!std::isfinite(value)) return text + ":" + print(type);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return type == kFloat32 ? text : text + ":" + print(type);
}

// What follows an access. A buffer's element type and its own alignment go without saying.
std::string access_suffix(Type type, int64_t alignment) {
  const bool plain = type.is_scalar() && alignment <= size_in_bytes(type.dtype);
  return plain ? "" : fmt::format(":{} align {}", print(type), alignment);
}

std::string name_or_quoted(const std::string& name) {
  const auto is_word = [](char c) {
    return ('a' <= c && c <= 'z') || ('A' <= c && c <= 'Z') || ('0' <= c && c <= '9') || c == '_';
  };
  const bool is_name =
      !name.empty() && !('0' <= name[0] && name[0] <= '9') && std::ranges::all_of(name, is_word);
  return is_name ? name : quote_text(name);
}

// Precedence levels: an operand prints in parentheses if it binds less tightly than its place asks.
class ExprPrinter {
 public:
  std::string print_at(const Expr& e, int level) {
    const int own = level_of(e);
    const std::string text =
        std::visit([&](const auto& kind) { return print_kind(*e, kind); }, e->kind);
    return own < level ? "(" + text + ")" : text;
  }

 private:
  static int level_of(const Expr& e) {
    if (const auto* b = as<BinaryExpr>(e)) {
      const OperatorSpelling& s = spelling_of(b->op);
      return s.is_call ? kPrimaryLevel : s.level;
    }
    if (const auto* u = as<UnaryExpr>(e)) {
      return u->op == UnaryOp::kNeg || u->op == UnaryOp::kNot ? kUnaryLevel : kPrimaryLevel;
    }
    if (const auto* i = as<IntLit>(e)) return i->value < 0 ? kUnaryLevel : kPrimaryLevel;
    if (const auto* f = as<FloatLit>(e))
      return std::signbit(f->value) ? kUnaryLevel : kPrimaryLevel;
    return kPrimaryLevel;
  }

  std::string print_kind(const ExprNode& e, const IntLit& i) {
    if (e.type == kBool) return i.value ? "true" : "false";
    const std::string text = std::to_string(i.value);
    return e.type == kInt32 ? text : text + ":" + print(e.type);
  }
  std::string print_kind(const ExprNode& e, const FloatLit& f) { return literal(f.value, e.type); }
  std::string print_kind(const ExprNode&, const Var& v) { return v.name; }
  std::string print_kind(const ExprNode& e, const Load& l) {
    std::string text = l.buffer + "[" + print_at(l.index, 0) + "]";
    return text + access_suffix(e.type, l.alignment);
  }
  std::string print_kind(const ExprNode&, const UnaryExpr& u) {
    if (u.op == UnaryOp::kNeg) return "-" + print_operand_of_minus(u.a);
    if (u.op == UnaryOp::kNot) return "!" + print_at(u.a, kUnaryLevel);
    return std::string(spelling_of(u.op)) + "(" + print_at(u.a, 0) + ")";
  }
  // "-x", but "-(5)" for the negation of a literal: "-5" is a literal itself.
  std::string print_operand_of_minus(const Expr& a) {
    const bool is_literal = as<IntLit>(a) || as<FloatLit>(a);
    return is_literal ? "(" + print_at(a, 0) + ")" : print_at(a, kPrimaryLevel);
  }
  static bool has_opposite(const IntLit& i, Type type) {
    return i.value < 0 && i.value > lowest(type.dtype);
  }
  std::string print_kind(const ExprNode&, const BinaryExpr& b) {
    const OperatorSpelling& s = spelling_of(b.op);
    if (s.is_call) return fmt::format("{}({}, {})", s.text, print_at(b.a, 0), print_at(b.b, 0));
    // Binary operators group to the left. x + -5 prints as x - 5, and x - 5 as x - (5).
    const auto* right = as<IntLit>(b.b);
    const std::string left = print_at(b.a, s.level);
    if (right && b.op == BinaryOp::kAdd && has_opposite(*right, b.b->type)) {
      return fmt::format("{} - {}", left, print_at(lit(-right->value, b.b->type), s.level + 1));
    }
    if (right && b.op == BinaryOp::kSub) return fmt::format("{} - ({})", left, print_at(b.b, 0));
    return fmt::format("{} {} {}", left, s.text, print_at(b.b, s.level + 1));
  }
  std::string print_kind(const ExprNode&, const Select& s) {
    return fmt::format("select({}, {}, {})", print_at(s.condition, 0), print_at(s.if_true, 0),
                       print_at(s.if_false, 0));
  }
  std::string print_kind(const ExprNode& e, const Cast& c) {
    return print(e.type) + "(" + print_at(c.a, 0) + ")";
  }
  std::string print_kind(const ExprNode&, const Lane& l) {
    return fmt::format("lane({}, {})", print_at(l.a, 0), l.lane);
  }
  std::string print_kind(const ExprNode& e, const Pack& p) {
    return print(e.type) + print_list(p.lanes);
  }
  std::string print_kind(const ExprNode&, const CallExpr& c) {
    return c.function + print_list(c.args);
  }
  std::string print_list(const std::vector<Expr>& list) {
    std::string text = "(";
    for (size_t i = 0; i < list.size(); ++i) text += (i ? ", " : "") + print_at(list[i], 0);
    return text + ")";
  }
};

class BlockPrinter {
 public:
  explicit BlockPrinter(const std::vector<CallNote>* notes = nullptr) : notes_(notes) {}

  std::string take() && { return std::move(out_); }
  void print_block(const Block& block, int depth) {
    for (const Stmt& stmt : block) {
      std::visit([&](const auto& kind) { print_stmt(kind, depth); }, stmt.kind);
    }
  }

 private:
  template <class... Args>
  void line(int depth, fmt::format_string<Args...> format, Args&&... args) {
    out_.append(static_cast<size_t>(2 * depth), ' ');
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
    out_ += '\n';
  }

  void print_stmt(const For& f, int depth) {
    line(depth, "for {} = {} to {}{}{} {{", f.variable, print(f.begin), print(f.end),
         f.step == 1 ? "" : fmt::format(" step {}", f.step), f.reverse ? " reverse" : "");
    print_block(f.body, depth + 1);
    line(depth, "}}");
  }
  void print_stmt(const If& i, int depth) {
    line(depth, "if {} {{", print(i.condition));
    print_block(i.then_body, depth + 1);
    if (!i.else_body.empty()) {
      line(depth, "}} else {{");
      print_block(i.else_body, depth + 1);
    }
    line(depth, "}}");
  }
  void print_stmt(const Let& l, int depth) {
    const std::string where = l.register_name.empty() ? "" : " in " + quote_text(l.register_name);
    line(depth, "let {}: {}{} = {}", l.name, print(l.value->type), where, print(l.value));
  }
  void print_stmt(const Assign& a, int depth) { line(depth, "{} = {}", a.name, print(a.value)); }
  void print_stmt(const LocalArray& a, int depth) {
    line(depth, "array {} {}[{}]", a.name, name_of(a.dtype), a.num_elements);
  }
  void print_stmt(const Store& s, int depth) {
    const int64_t alignment = std::max(s.alignment, size_in_bytes(s.value->type.dtype));
    line(depth, "{}[{}]{} = {}", s.buffer, print(s.index), access_suffix(s.value->type, alignment),
         print(s.value));
  }
  void print_stmt(const Comment& c, int depth) { line(depth, "comment {}", quote_text(c.text)); }
  void print_stmt(const CallKernel& c, int depth) {
    std::string args;
    for (const BufferRef& ref : c.args) {
      args += args.empty() ? "" : ", ";
      args += ref.buffer;
      if (ref.offset_elements != 0) args += fmt::format(" + {}", ref.offset_elements);
    }
    for (size_t i = 0; i < c.scalars.size(); ++i) {
      args += (i == 0 ? "; " : ", ") + print(c.scalars[i]);
    }
    std::string note;
    if (notes_ && next_note_ < notes_->size()) {
      const CallNote& n = (*notes_)[next_note_++];
      note = fmt::format(" note {} {} macs {} operators [", quote_text(n.name),
                         name_or_quoted(n.kind), n.macs);
      for (size_t i = 0; i < n.operators.size(); ++i) {
        note += fmt::format("{}{}", i ? ", " : "", n.operators[i]);
      }
      note += "]";
    }
    line(depth, "call {}({}){}", c.kernel, args, note);
  }

  const std::vector<CallNote>* notes_;
  size_t next_note_ = 0;
  std::string out_;
};

std::string print(const Param& p) {
  static constexpr std::array<std::string_view, 3> kAccess = {"read", "write", "update"};
  const std::string_view access = kAccess.at(static_cast<size_t>(p.access));
  return fmt::format("{}: {}[{}] {}{} align {}", p.name, name_of(p.dtype), p.num_elements,
                     p.constant ? "constant" : access,
                     p.constant && p.access != Access::kRead ? fmt::format(" {}", access) : "",
                     p.alignment);
}

void print_hex(std::span<const uint8_t> bytes, const FileText::Sink& sink) {
  static constexpr std::string_view kDigits = "0123456789abcdef";
  constexpr size_t kPieceBytes = size_t{1} << 15;
  std::string text;
  while (!bytes.empty()) {
    const std::span<const uint8_t> piece = bytes.first(std::min(bytes.size(), kPieceBytes));
    text.resize(2 * piece.size());
    for (size_t i = 0; i < piece.size(); ++i) {
      text[2 * i] = kDigits[piece[i] >> 4U];
      text[2 * i + 1] = kDigits[piece[i] & 15U];
    }
    sink(text);
    bytes = bytes.subspan(piece.size());
  }
}

void print(const Buffer& b, PrintOptions options, const FileText::Sink& sink) {
  static constexpr std::array<std::string_view, 4> kKinds = {"input", "output", "arena",
                                                             "constant"};
  std::string text =
      fmt::format("buffer {} {}[{}] {} align {}", b.name, name_of(b.dtype), b.num_elements,
                  kKinds.at(static_cast<size_t>(b.kind)), b.alignment);
  if (b.offset_bytes) text += fmt::format(" offset {}", *b.offset_bytes);
  const std::string lender = lender_of(b);
  if (!b.pool.empty()) text += lender.empty() ? " pool " + b.pool : " in " + lender;
  if (b.tie_group != -1 || b.tie_offset_bytes != 0)
    text += fmt::format(" tie {} {}", b.tie_group, b.tie_offset_bytes);
  if (!b.tensor.empty()) text += " tensor " + quote_text(b.tensor);
  if (b.type) text += " type " + ingot::print(*b.type);
  if (b.data && options.data) {
    sink(text + " data ");
    print_hex(b.data->view(), sink);
    text.clear();
  }
  sink(text + "\n");
}

std::string print(const Function::Parameter& p) {
  return fmt::format("{}: {}", p.name, print(p.type));
}

std::string print(const Function& f) {
  std::string params;
  for (const Function::Parameter& p : f.params) params += (params.empty() ? "" : ", ") + print(p);
  std::string text = fmt::format("function {}({}) -> {} {}", f.name, params, print(f.result->type),
                                 quote_text(f.comment));
  if (f.movable) text += " movable";
  if (!f.spelling.empty()) text += " spelling " + quote_text(f.spelling);
  if (!f.assembly.empty()) text += " assembly " + quote_text(f.assembly);
  if (!f.constraints.empty()) text += " constraints " + quote_text(f.constraints);
  if (!f.expression.empty()) text += " expression " + quote_text(f.expression);
  if (!f.condition.empty()) text += " if " + quote_text(f.condition);
  BlockPrinter body;
  body.print_block(f.body, 1);
  return fmt::format("{} {{\n{}  return {}\n}}\n", text, std::move(body).take(), print(f.result));
}

std::string print_head(const Program& program) {
  return fmt::format("program {}\n", name_or_quoted(program.name));
}

// What follows the buffers.
std::string print_code(const Program& program) {
  std::string text;
  for (const Function& f : program.functions) text += print(f);
  for (const Kernel& k : program.kernels) text += print(k);
  BlockPrinter runner(&program.notes);
  runner.print_block(program.runner, 1);
  return text + "run {\n" + std::move(runner).take() + "}\n";
}

}  // namespace

std::string print(const Expr& e) { return ExprPrinter().print_at(e, 0); }

std::string print(const Block& block) {
  BlockPrinter printer;
  printer.print_block(block, 0);
  return std::move(printer).take();
}

std::string print(const Kernel& kernel) {
  std::string params;
  for (const Param& p : kernel.params) params += (params.empty() ? "" : ", ") + print(p);
  for (size_t i = 0; i < kernel.scalars.size(); ++i) {
    params += (i == 0 ? "; " : ", ") + print(kernel.scalars[i]);
  }
  BlockPrinter body;
  body.print_block(kernel.body, 1);
  return fmt::format("kernel {}({}) {} {{\n{}}}\n", kernel.name, params, quote_text(kernel.comment),
                     std::move(body).take());
}

std::string print(const Program& program, PrintOptions options) {
  std::string text = print_head(program);
  for (const Buffer& b : program.buffers) {
    print(b, options, [&](std::string_view piece) { text += piece; });
  }
  return text + print_code(program);
}

FileText print_file(const Program& program) {
  return FileText([head = print_head(program), buffers = program.buffers,
                   code = print_code(program)](const FileText::Sink& sink) {
    sink(head);
    for (const Buffer& b : buffers) print(b, {}, sink);
    sink(code);
  });
}

}  // namespace ingot::loop
