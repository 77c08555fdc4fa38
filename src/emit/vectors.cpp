// SPDX-License-Identifier: Apache-2.0
#include "emit/vectors.h"

#include <fmt/format.h>

#include <array>
#include <bit>

#include "emit/literals.h"
#include "support/check.h"

namespace ingot {
namespace {

using loop::Type;

// The vector of signed integers as wide as `type`'s elements: what comparisons give.
Type mask_of(Type type) {
  switch (size_in_bytes(type.dtype)) {
    case 1:
      return {DType::kInt8, type.lanes};
    case 2:
      return {DType::kInt16, type.lanes};
    case 4:
      return {DType::kInt32, type.lanes};
    default:
      return {DType::kInt64, type.lanes};
  }
}

}  // namespace

std::string VectorNeeds::add(const std::string& name, const std::string& result,
                             const std::string& parameters, std::vector<std::string> body) {
  functions_.emplace(name,
                     Function{fmt::format("{} {}({})", result, name, parameters), std::move(body)});
  return name;
}

std::string VectorNeeds::type(Type type) {
  CHECK(!type.is_scalar() && !type.packed && type.dtype != DType::kBool);
  CHECK(std::has_single_bit(static_cast<uint64_t>(type.lanes)));
  const std::string name = loop::print(type);
  types_.emplace(name, type);
  return name;
}

std::string VectorNeeds::load(Type t, int64_t alignment) {
  const std::string vector = type(t);
  // Cores read words at more addresses than bytes.
  const bool of_words = alignment >= 4 && size_in_bytes(t.dtype) < 4;
  const std::string name = "load_" + vector + (of_words ? "_aligned" : "");
  const bool has_distance = reach_of(name) > 0;
  return add(name, vector,
             fmt::format("const {} *p{}", c_element_type(t.dtype),
                         has_distance ? ", const int32_t distance" : ""),
             {vector + " v;",
              has_distance ? "memcpy(&v, p + distance, sizeof(v));" : "memcpy(&v, p, sizeof(v));",
              "return v;"});
}

int64_t VectorNeeds::reach_of(const std::string& function) const {
  const auto found = extension_->reaches.find(function);
  return found == extension_->reaches.end() ? 0 : found->second;
}

std::string VectorNeeds::store(Type t) {
  const std::string vector = type(t);
  return add("store_" + vector, "void", fmt::format("{} *p, {} v", c_element_type(t.dtype), vector),
             {"memcpy(p, &v, sizeof(v));"});
}

std::string VectorNeeds::load_as(Type from, Type to) {
  const std::string loaded = load(from);
  const std::string converted = convert(from, to);
  const std::string name = fmt::format("load_{}_as_{}", type(from), type(to));
  const bool has_distance = reach_of(name) > 0;
  return add(
      name, type(to),
      fmt::format("const {} *p{}", c_element_type(from.dtype),
                  has_distance ? ", const int32_t distance" : ""),
      {fmt::format("return {}({}(p{}));", converted, loaded, has_distance ? " + distance" : "")});
}

std::string VectorNeeds::store_as(Type from, Type to) {
  const std::string stored = store(to);
  const std::string converted = convert(from, to);
  return add(fmt::format("store_{}_as_{}", type(from), type(to)), "void",
             fmt::format("{} *p, {} v", c_element_type(to.dtype), type(from)),
             {fmt::format("{}(p, {}(v));", stored, converted)});
}

std::string VectorNeeds::store_saturated(Type from, Type to) {
  const std::string stored = store_as(from, to);
  const std::string limit = splat(from);
  return add(
      fmt::format("store_saturated_{}_as_{}", type(from), type(to)), "void",
      fmt::format("{} *p, {} v", c_element_type(to.dtype), type(from)),
      {fmt::format("{}(p, {}({}(v, {}({})), {}({})));", stored, min_or_max(from, true),
                   min_or_max(from, false), limit, lowest(to.dtype), limit, highest(to.dtype))});
}

std::string VectorNeeds::splat(Type t) {
  const std::string vector = type(t);
  // x - 0 is x for floats too, -0 included.
  return add("splat_" + vector, vector, c_element_type(t.dtype) + " x",
             {"const " + vector + " zero = {0};", "return x - zero;"});
}

std::string VectorNeeds::add_to_all(Type t) {
  const std::string vector = type(t);
  const std::string name = "add_to_all_" + vector;
  if (!extension_->operations.contains(name)) return {};
  const std::string spread = splat(t);
  return add(name, vector, fmt::format("{} v, {} x", vector, c_element_type(t.dtype)),
             {"return v + " + spread + "(x);"});
}

std::string VectorNeeds::pack(Type t) {
  const std::string vector = type(t);
  std::string parameters;
  std::string lanes;
  for (int64_t i = 0; i < t.lanes; ++i) {
    parameters += fmt::format("{}{} x{}", i > 0 ? ", " : "", c_element_type(t.dtype), i);
    lanes += fmt::format("{}x{}", i > 0 ? ", " : "", i);
  }
  return add("pack_" + vector, vector, parameters,
             {fmt::format("const {} v = {{{}}};", vector, lanes), "return v;"});
}

std::string VectorNeeds::convert(Type from, Type to) {
  const std::string result = type(to);
  return add(fmt::format("{}_from_{}", result, type(from)), result, type(from) + " v",
             {fmt::format("return __builtin_convertvector(v, {});", result)});
}

std::string VectorNeeds::select(Type compared, Type t) {
  CHECK(size_in_bytes(compared.dtype) == size_in_bytes(t.dtype) && compared.lanes == t.lanes);
  const std::string mask = type(mask_of(t));
  const std::string vector = type(t);
  const bool same = mask == vector;
  const std::string to_mask = same ? "" : "(" + mask + ")";
  const std::string from_mask = same ? "" : "(" + vector + ")";
  return add("select_" + vector, vector, fmt::format("{0} mask, {1} a, {1} b", mask, vector),
             {fmt::format("return {1}(({0}a & mask) | ({0}b & ~mask));", to_mask, from_mask)});
}

std::string VectorNeeds::min_or_max(Type t, bool is_min) {
  const std::string vector = type(t);
  const std::string selected = select(t, t);
  // a where the two are equal or unordered, as the scalar functions.
  return add((is_min ? "min_" : "max_") + vector, vector, fmt::format("{0} a, {0} b", vector),
             {fmt::format("return {}({}, b, a);", selected, is_min ? "b < a" : "a < b")});
}

void VectorNeeds::merge(const VectorNeeds& other) {
  types_.insert(other.types_.begin(), other.types_.end());
  functions_.insert(other.functions_.begin(), other.functions_.end());
}

void VectorNeeds::print(CText& out, const std::string& model) const {
  if (empty()) return;
  out.blank();
  out.raw("#if !defined(__GNUC__)");
  out.raw("#error \"" + model + " needs the vectors of GCC or Clang; the target c99 does not\"");
  out.raw("#endif");
  out.comment("Vectors pass between functions of this file only.");
  out.raw("#pragma GCC diagnostic ignored \"-Wpsabi\"");
  out.blank();
  out.comment("Vectors: the type of the elements, and how many.");
  for (const auto& [name, type] : types_) {
    out.line(fmt::format("typedef {} {} __attribute__((vector_size({})));",
                         c_element_type(type.dtype), name, type.size_bytes()));
  }
  // What calls others of these functions stands behind them.
  const auto level_of = [](const std::string& name) {
    if (name.starts_with("store_saturated_")) return 2;
    const bool late = name.starts_with("min_") || name.starts_with("max_") ||
                      name.starts_with("add_to_all_") || name.find("_as_") != std::string::npos;
    return late ? 1 : 0;
  };
  for (const int level : {0, 1, 2}) {
    for (const auto& [name, function] : functions_) {
      if (level_of(name) != level) continue;
      out.blank();
      // The distance has to be a constant where the instruction stands, and the bytes behind a
      // pointer, as many as there are, an operand: GCC has that.
      const bool is_near = reach_of(name) > 0;
      if (is_near) out.raw("__attribute__((always_inline))");
      out.open("static inline " + function.head);
      const auto better = extension_->operations.find(name);
      const bool has_better = better != extension_->operations.end();
      if (has_better) {
        out.raw("#if " + extension_->condition +
                (is_near ? " && defined(__OPTIMIZE__) && !defined(__clang__)" : ""));
        out.line(better->second);
        out.raw("#else");
      }
      for (const std::string& line : function.body) out.line(line);
      if (has_better) out.raw("#endif");
      out.close();
    }
  }
}

std::vector<std::string> vector_type_names() {
  std::vector<std::string> names;
  for (const DType dtype :
       {DType::kInt8, DType::kUInt8, DType::kInt16, DType::kUInt16, DType::kInt32, DType::kUInt32,
        DType::kInt64, DType::kUInt64, DType::kFloat32, DType::kFloat64}) {
    for (int64_t lanes = 2; lanes <= 64; lanes *= 2) names.push_back(print(Type{dtype, lanes}));
  }
  return names;
}

}  // namespace ingot
