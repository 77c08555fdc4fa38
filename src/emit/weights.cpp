// SPDX-License-Identifier: Apache-2.0
// NAME_weights.c: the constants of the model as arrays of decimals.
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <set>

#include "emit/literals.h"
#include "emit/symbols.h"
#include "support/check.h"

namespace ingot {
namespace {

using loop::Buffer;
using loop::BufferKind;

// Pieces of a text are passed on when they are about this long.
constexpr size_t kPieceBytes = size_t{1} << 16;

// Fills lines of at most 100 columns with "1, 2, 3," and the like.
class ListWriter {
 public:
  explicit ListWriter(const FileText::Sink& sink) : sink_(sink), buffer_(kPieceBytes) {}

  void add(std::string_view element) {
    if (end_ + element.size() + 4 > buffer_.size()) pass_on();
    char* at = buffer_.data() + end_;
    if (column_ + element.size() + 2 > kMaxColumns) {
      const std::string_view gap = is_first_ ? "  " : "\n  ";
      at = std::copy(gap.begin(), gap.end(), at);
      is_first_ = false;
      column_ = 2;
    } else {
      *at++ = ' ';
      ++column_;
    }
    at = std::copy(element.begin(), element.end(), at);
    *at++ = ',';
    column_ += element.size() + 1;
    end_ = static_cast<size_t>(at - buffer_.data());
  }
  void finish() {
    pass_on();
    if (!is_first_) sink_("\n");
  }

 private:
  void pass_on() {
    sink_({buffer_.data(), end_});
    end_ = 0;
  }

  const FileText::Sink& sink_;
  std::vector<char> buffer_;  // its first end_ bytes are written
  size_t end_ = 0;
  size_t column_ = kMaxColumns;
  bool is_first_ = true;
};

// Visits elements one by one: a copy of all would be as large as the constant.
template <class T, class Visit>
void for_each_element(const Bytes& data, const Visit& visit) {
  const std::span<const uint8_t> bytes = data.view();
  CHECK(bytes.size() % sizeof(T) == 0);
  for (size_t i = 0; i < bytes.size(); i += sizeof(T)) {
    T element{};
    std::memcpy(&element, bytes.data() + i, sizeof(T));
    visit(element);
  }
}

template <class T>
void write_integers(ListWriter& list, const Bytes& data, DType dtype) {
  constexpr bool plain = sizeof(T) < 4;  // an int, whose digits are all there is to it
  std::array<char, 24> buffer{};
  for_each_element<T>(data, [&](T element) {
    if constexpr (plain) {
      const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), element);
      list.add({buffer.data(), static_cast<size_t>(end.ptr - buffer.data())});
    } else {
      list.add(int_literal(static_cast<int64_t>(element), dtype));
    }
  });
}

// Digits of bytes are looked up: most weights are bytes, and there may be 100 million.
template <class T>
void write_bytes(ListWriter& list, const Bytes& data) {
  std::array<std::string, 256> texts;
  for (size_t b = 0; b < texts.size(); ++b) texts[b] = std::to_string(static_cast<T>(b));
  for (const uint8_t byte : data.view()) list.add(texts[byte]);
}

template <class T>
void write_floats(ListWriter& list, const Bytes& data, DType dtype) {
  std::array<char, 64> buffer{};
  for_each_element<T>(data, [&](T element) {
    list.add({buffer.data(), write_float_literal(element, dtype, buffer)});
  });
}

void write_elements(ListWriter& list, const Bytes& data, DType dtype) {
  switch (dtype) {
    case DType::kBool:
    case DType::kUInt8:
      return write_bytes<uint8_t>(list, data);
    case DType::kInt8:
      return write_bytes<int8_t>(list, data);
    case DType::kInt16:
      return write_integers<int16_t>(list, data, dtype);
    case DType::kUInt16:
    case DType::kFloat16:
      return write_integers<uint16_t>(list, data, DType::kUInt16);
    case DType::kInt32:
      return write_integers<int32_t>(list, data, dtype);
    case DType::kUInt32:
      return write_integers<uint32_t>(list, data, dtype);
    case DType::kInt64:
      return write_integers<int64_t>(list, data, dtype);
    case DType::kUInt64:
      return write_integers<uint64_t>(list, data, dtype);
    case DType::kFloat32:
      return write_floats<float>(list, data, dtype);
    case DType::kFloat64:
      return write_floats<double>(list, data, dtype);
  }
}

template <class T>
bool has_non_finite(const Bytes& data) {
  // The difference is 0 where the element is finite, else NaN; without branches, as this is asked
  // of all weights.
  int64_t count = 0;
  for_each_element<T>(data, [&](T element) { count += element - element == 0 ? 0 : 1; });
  return count > 0;
}

DType bits_type(DType dtype) { return dtype == DType::kFloat32 ? DType::kUInt32 : DType::kUInt64; }

// "const int8_t kws_w0[2560]", or the union that holds bits.
std::string declarator(const Buffer& buffer, const std::string& symbol) {
  if (needs_bits(buffer)) return "const union " + symbol + "_bits " + symbol;
  return "const " + c_element_type(buffer.dtype) + " " + symbol + "[" +
         std::to_string(buffer.num_elements) + "]";
}

// The constants of which some kernel needs more alignment than their elements have.
std::set<std::string> over_aligned_constants(const loop::Program& program) {
  std::map<std::string, const loop::Kernel*> kernels;
  for (const loop::Kernel& kernel : program.kernels) kernels[kernel.name] = &kernel;
  std::set<std::string> needed;
  for_each_call(program.runner, [&](const loop::CallKernel& call) {
    const loop::Kernel& kernel = *kernels.at(call.kernel);
    for (size_t i = 0; i < call.args.size(); ++i) {
      if (kernel.params.at(i).alignment > size_in_bytes(kernel.params[i].dtype)) {
        needed.insert(call.args[i].buffer);
      }
    }
  });
  std::set<std::string> result;
  for (const Buffer& buffer : program.buffers) {
    const bool constant = buffer.kind == BufferKind::kConstant && buffer.num_elements > 0;
    if (constant && needed.contains(buffer.name)) result.insert(buffer.name);
  }
  return result;
}

void print_align_macro(CText& out, const Symbols& symbols) {
  out.blank();
  out.comment("Some kernels read several elements at once and need more than their alignment.");
  const std::string macro = symbols.upper + "_ALIGN(bytes)";
  out.raw("#if defined(__GNUC__) || defined(__clang__) || defined(__ICCARM__)");
  out.raw("#define " + macro + " __attribute__((aligned(bytes)))");
  out.raw("#elif defined(__cplusplus)");
  out.raw("#define " + macro + " alignas(bytes)");
  out.raw("#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L");
  out.raw("#define " + macro + " _Alignas(bytes)");
  out.raw("#elif defined(_MSC_VER)");
  out.raw("#define " + macro + " __declspec(align(bytes))");
  out.raw("#else");
  out.raw("#error \"this compiler is not known to align arrays\"");
  out.raw("#endif");
}

// A constant and how it is printed.
struct Constant {
  Buffer buffer;
  std::string symbol;
  std::string align_macro;  // in front of it; empty: none
};

void print_constant(const Constant& constant, const FileText::Sink& sink) {
  const Buffer& buffer = constant.buffer;
  std::string out = "\n";
  if (!buffer.tensor.empty()) out += "/* " + model_text(buffer.tensor) + " */\n";
  out += constant.align_macro;
  const bool bits = needs_bits(buffer);
  out += declarator(buffer, constant.symbol) + (bits ? " = {{\n" : " = {\n");
  sink(out);
  ListWriter list(sink);
  write_elements(list, *buffer.data, bits ? bits_type(buffer.dtype) : buffer.dtype);
  list.finish();
  sink(bits ? "}};\n" : "};\n");
}

}  // namespace

bool needs_bits(const Buffer& buffer) {
  if (!buffer.data) return false;
  if (buffer.dtype == DType::kFloat32) return has_non_finite<float>(*buffer.data);
  if (buffer.dtype == DType::kFloat64) return has_non_finite<double>(*buffer.data);
  return false;
}

std::string constant_pointer(const Buffer& buffer, const Symbols& symbols) {
  const std::string& symbol = symbols.constants.at(buffer.name);
  return needs_bits(buffer) ? symbol + ".values" : symbol;
}

void print_constant_declarations(CText& out, const loop::Program& program, const Symbols& symbols) {
  std::vector<const Buffer*> constants;
  for (const Buffer& buffer : program.buffers) {
    if (buffer.kind == BufferKind::kConstant && buffer.num_elements > 0) {
      constants.push_back(&buffer);
    }
  }
  if (constants.empty()) return;
  out.blank();
  out.raw("#ifdef __cplusplus");
  out.raw("extern \"C\" {");
  out.raw("#endif");
  for (const Buffer* buffer : constants) {
    const std::string& symbol = symbols.constants.at(buffer->name);
    if (needs_bits(*buffer)) {
      const std::string count = "[" + std::to_string(buffer->num_elements) + "];";
      out.comment("It holds infinities or NaNs, which C cannot write as numbers: given as bits.");
      out.open("union " + symbol + "_bits");
      out.line(c_element_type(bits_type(buffer->dtype)) + " bits" + count);
      out.line(c_element_type(buffer->dtype) + " values" + count);
      out.close(";");
    }
    out.line("extern " + declarator(*buffer, symbol) + ";");
  }
  out.raw("#ifdef __cplusplus");
  out.raw("}");
  out.raw("#endif");
}

FileText emit_weights(const loop::Program& program, const EmitOptions& options,
                      const Symbols& symbols) {
  CText out;
  print_head(out, program, options, "the constants of the model.");
  out.raw("#include <stdint.h>");
  const std::set<std::string> over_aligned_names = over_aligned_constants(program);
  if (!over_aligned_names.empty()) print_align_macro(out, symbols);
  print_constant_declarations(out, program, symbols);
  // Without constants the file would declare nothing, which C does not allow.
  if (symbols.constants.empty()) {
    return out.str() + "\ntypedef int32_t " + symbols.name + "_no_constants;\n";
  }
  std::vector<Constant> constants;
  for (const Buffer& buffer : program.buffers) {
    if (buffer.kind != BufferKind::kConstant || buffer.num_elements == 0) continue;
    CHECK(buffer.data.has_value() && buffer.data->size() == buffer.size_bytes());
    const bool over_aligned = over_aligned_names.contains(buffer.name);
    constants.push_back(
        {buffer, symbols.constants.at(buffer.name),
         over_aligned ? symbols.upper + "_ALIGN(" + std::to_string(buffer.alignment) + ") " : ""});
  }
  return FileText([head = out.str(), constants = std::move(constants)](const FileText::Sink& sink) {
    sink(head);
    for (const Constant& constant : constants) print_constant(constant, sink);
  });
}

}  // namespace ingot
