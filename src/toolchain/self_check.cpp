// SPDX-License-Identifier: Apache-2.0
// The self-check program: text that is plain C99 and C++11 and free of warnings, with the vectors
// as arrays of the elements' own type (floats as the integers of the same bits, so that infinities
// and NaN need no spelling).
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <iterator>

#include "support/check.h"
#include "toolchain/harness_text.h"

namespace ingot::toolchain {
namespace {

constexpr int64_t kColumns = 98;

// The type of the recorded elements.
DType recorded_type(DType dtype) {
  switch (dtype) {
    case DType::kFloat32:
      return DType::kUInt32;
    case DType::kFloat64:
      return DType::kUInt64;
    case DType::kFloat16:
      return DType::kUInt16;
    default:
      return dtype;
  }
}

template <class T>
T element_at(const std::vector<uint8_t>& bytes, size_t index) {
  T element;
  std::memcpy(&element, bytes.data() + index * sizeof(T), sizeof(T));
  return element;
}

std::string literal(DType dtype, const std::vector<uint8_t>& bytes, size_t index) {
  switch (dtype) {
    case DType::kInt8:
      return fmt::format("{}", element_at<int8_t>(bytes, index));
    case DType::kInt16:
      return fmt::format("{}", element_at<int16_t>(bytes, index));
    case DType::kInt32: {
      const int32_t element = element_at<int32_t>(bytes, index);
      return element == INT32_MIN ? "INT32_MIN" : fmt::format("{}", element);
    }
    case DType::kInt64: {
      const int64_t element = element_at<int64_t>(bytes, index);
      return element == INT64_MIN ? "INT64_MIN" : fmt::format("INT64_C({})", element);
    }
    case DType::kUInt16:
      return fmt::format("{}u", element_at<uint16_t>(bytes, index));
    case DType::kUInt32:
      return fmt::format("{}u", element_at<uint32_t>(bytes, index));
    case DType::kUInt64:
      return fmt::format("UINT64_C({})", element_at<uint64_t>(bytes, index));
    default:
      return fmt::format("{}u", bytes.at(index));
  }
}

// "static const TYPE NAME[NUM_VECTORS][n] = {{...}, ...};", lines of at most kColumns. An empty
// tensor has one element of no meaning: C has no empty arrays.
class ArrayText {
 public:
  ArrayText(DType dtype, std::string_view name, int64_t num_elements)
      : dtype_(dtype),
        text_(fmt::format("static const {} {}[NUM_VECTORS][{}] = {{\n", c_type_of(dtype), name,
                          std::max<int64_t>(num_elements, 1))) {}

  void add(const std::vector<uint8_t>& bytes) {
    const size_t n = bytes.size() / static_cast<size_t>(size_in_bytes(dtype_));
    std::string line = "  {";
    for (size_t i = 0; i < n; ++i) {
      const std::string element = literal(dtype_, bytes, i) + (i + 1 < n ? "," : "");
      if (static_cast<int64_t>(line.size() + element.size()) > kColumns) {
        text_ += line + "\n";
        line = "   ";
      }
      line += element;
    }
    text_ += line + (n == 0 ? "0},\n" : "},\n");
  }

  std::string finish() const { return text_ + "};\n"; }

 private:
  DType dtype_;
  std::string text_;
};

int64_t num_elements(const Port& port) { return port.bytes / size_in_bytes(port.dtype); }

// The names in the text of port number `index`: "recorded_input_0" (what is expected of an output)
// and "input_0".
std::string recorded_name(std::string_view kind, size_t index) {
  return fmt::format("recorded_{}_{}", kind, index);
}
std::string buffer_name(std::string_view kind, size_t index) {
  return fmt::format("{}_{}", kind, index);
}

std::string arrays_text(const ModelInterface& model, std::string_view kind,
                        const std::vector<Port>& ports, std::span<const GoldenVector> vectors,
                        Tensors GoldenVector::*tensors) {
  std::string text;
  for (size_t i = 0; i < ports.size(); ++i) {
    const Port& port = ports[i];
    ArrayText array(recorded_type(port.dtype), recorded_name(kind, i), num_elements(port));
    for (const GoldenVector& vector : vectors) {
      const std::vector<uint8_t>& bytes = (vector.*tensors).at(i);
      CHECK(static_cast<int64_t>(bytes.size()) == port.bytes);
      array.add(bytes);
    }
    text += fmt::format("\n/* {} {} */\n", kind, port.c_name) + array.finish();
    if (model.io_in_arena && kind == "input") continue;  // they lie in the arena
    text += fmt::format("static {} {}[{}];\n", c_type_of(port.dtype), buffer_name(kind, i),
                        std::max<int64_t>(num_elements(port), 1));
  }
  return text;
}

std::string copies_text(const ModelInterface& model, std::string_view kind,
                        const std::vector<Port>& ports) {
  const bool is_input = kind == "input";
  std::string text;
  for (size_t i = 0; i < ports.size(); ++i) {
    const std::string buffer = buffer_name(kind, i);
    const std::string in_arena = fmt::format("arena + {}_{}_{}_OFFSET", upper_case(model.name),
                                             upper_case(kind), upper_case(ports[i].c_name));
    if (is_input) {
      text += fmt::format("  memcpy({}, {}[vector], {});\n", model.io_in_arena ? in_arena : buffer,
                          recorded_name(kind, i), ports[i].bytes);
    } else if (model.io_in_arena) {
      text += fmt::format("  memcpy({}, {}, {});\n", buffer, in_arena, ports[i].bytes);
    }
  }
  return text;
}

constexpr std::string_view kFloatCheck = R"(
/* Equal, or nearly: by 1e-5 of the largest magnitude that is expected. */
static int is_near(double value, double expected, double largest) {
  const double difference = value > expected ? value - expected : expected - value;
  if (expected != expected) return value != value;
  return !(value > expected || value < expected || value != value) ||
         (difference <= 1e-5 * largest && largest <= 1.7e308);
}
)";

std::string float_check_text(const Port& port, size_t index) {
  return fmt::format(
      R"(
/* output {c_name} */
static int check_output_{index}(int vector) {{
  double largest = 0.0;
  int differing = 0;
  long i;
  {type} expected;
  for (i = 0; i < {n}; ++i) {{
    double magnitude;
    memcpy(&expected, &recorded_output_{index}[vector][i], sizeof expected);
    magnitude = expected < 0 ? -(double)expected : (double)expected;
    if (magnitude > largest && magnitude <= {largest}) largest = magnitude;
  }}
  for (i = 0; i < {n}; ++i) {{
    memcpy(&expected, &recorded_output_{index}[vector][i], sizeof expected);
    if (is_near((double)output_{index}[i], (double)expected, largest)) continue;
    if (differing == 0) report("{c_name}", vector, i);
    ++differing;
  }}
  return differing;
}}
)",
      fmt::arg("c_name", port.c_name), fmt::arg("index", index),
      fmt::arg("type", c_type_of(port.dtype)), fmt::arg("n", num_elements(port)),
      fmt::arg("largest", port.dtype == DType::kFloat32 ? "3.4028235e38" : "1.7e308"));
}

std::string exact_check_text(const Port& port, size_t index) {
  return fmt::format(
      R"(
/* output {c_name} */
static int check_output_{index}(int vector) {{
  int differing = 0;
  long i;
  for (i = 0; i < {n}; ++i) {{
    if (output_{index}[i] == recorded_output_{index}[vector][i]) continue;
    if (differing == 0) report("{c_name}", vector, i);
    ++differing;
  }}
  return differing;
}}
)",
      fmt::arg("c_name", port.c_name), fmt::arg("index", index), fmt::arg("n", num_elements(port)));
}

bool is_near_type(DType dtype) { return dtype == DType::kFloat32 || dtype == DType::kFloat64; }

std::string checks_text(const ModelInterface& model) {
  std::string text = fmt::format(R"(
static void report(const char *output, int vector, long element) {{
  printf("FAIL {}: vector %d, output %s, element %ld\n", vector, output, element);
}}
)",
                                 model.name);
  if (std::ranges::any_of(model.outputs, [](const Port& p) { return is_near_type(p.dtype); })) {
    text += kFloatCheck;
  }
  for (size_t i = 0; i < model.outputs.size(); ++i) {
    const Port& port = model.outputs[i];
    text += is_near_type(port.dtype) ? float_check_text(port, i) : exact_check_text(port, i);
  }
  return text;
}

std::string pool_macro(const ModelInterface& model, const PoolMemory& pool) {
  return upper_case(model.name) + "_POOL_" + upper_case(pool.name);
}

std::string run_text(const ModelInterface& model) {
  std::string text = fmt::format(
      R"(
/* The number of elements that differ; 1 if the model does not run. */
static int run_vector(int vector) {{
  const uintptr_t alignment = {}_ARENA_ALIGNMENT;
  unsigned char *const arena =
      arena_memory + (alignment - (uintptr_t)arena_memory % alignment) % alignment;
)",
      upper_case(model.name));
  std::string arguments = "arena";
  if (!model.pools.empty()) {
    text += fmt::format("  {}_memory memory;\n", model.name);
    arguments = "&memory";
  }
  if (!model.io_in_arena) {
    text += fmt::format("  {0}_inputs inputs;\n  {0}_outputs outputs;\n", model.name);
    arguments = "&inputs, &outputs, " + arguments;
  }
  text += "  int differing = 0;\n  int32_t status;\n";
  if (!model.pools.empty()) text += "  memory.arena = arena;\n";
  for (const PoolMemory& pool : model.pools) {
    text += fmt::format(
        "  memory.{0} = pool_{0} + ({1}_ALIGNMENT - (uintptr_t)pool_{0} % {1}_ALIGNMENT) % "
        "{1}_ALIGNMENT;\n",
        pool.name, pool_macro(model, pool));
  }
  text += copies_text(model, "input", model.inputs);
  if (!model.io_in_arena) {
    const struct {
      std::string_view kind;
      const std::vector<Port>& ports;
    } lists[] = {{"input", model.inputs}, {"output", model.outputs}};
    for (const auto& [kind, ports] : lists) {
      for (size_t i = 0; i < ports.size(); ++i) {
        text += fmt::format("  {}s.{} = {};\n", kind, ports[i].c_name, buffer_name(kind, i));
      }
    }
  }
  text += fmt::format("  status = {}_run({});\n", model.name, arguments);
  text += fmt::format(
      "  if (status != 0) {{\n    printf(\"FAIL {}: vector %d, the run returned %ld\\n\", vector, "
      "(long)status);\n    return 1;\n  }}\n",
      model.name);
  text += copies_text(model, "output", model.outputs);
  for (size_t i = 0; i < model.outputs.size(); ++i) {
    text += fmt::format("  differing += check_output_{}(vector);\n", i);
  }
  return text + "  return differing;\n}\n";
}

}  // namespace

std::string self_check_text(const ModelInterface& model, std::span<const GoldenVector> vectors) {
  CHECK(!vectors.empty());
  std::string text = fmt::format(
      R"(/* Self-check of the model {name}: runs it on recorded inputs, compares its outputs with the
 * recorded ones, prints PASS or FAIL and returns 0 or 1.
 *
 *   cc -std=c99 -I .. {name}_test.c ../{name}.c ../{name}_weights.c -lm -o {name}_test
 *   ./{name}_test
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

{include}

#define NUM_VECTORS {num_vectors}

static unsigned char arena_memory[{upper}_ARENA_BYTES + {upper}_ARENA_ALIGNMENT];
)",
      fmt::arg("name", model.name), fmt::arg("include", "#include \"" + model.name + ".h\""),
      fmt::arg("upper", upper_case(model.name)), fmt::arg("num_vectors", vectors.size()));
  for (const PoolMemory& pool : model.pools) {
    text += fmt::format("static unsigned char pool_{0}[{1}_BYTES + {1}_ALIGNMENT];\n", pool.name,
                        pool_macro(model, pool));
  }
  text += arrays_text(model, "input", model.inputs, vectors, &GoldenVector::inputs);
  text += arrays_text(model, "output", model.outputs, vectors, &GoldenVector::outputs);
  text += checks_text(model) + run_text(model);
  text += fmt::format(R"(
int main(void) {{
  int failed = 0;
  int vector;
  for (vector = 0; vector < NUM_VECTORS; ++vector) failed += run_vector(vector) != 0 ? 1 : 0;
  if (failed == 0) {{
    printf("PASS {0}: %d vectors\n", NUM_VECTORS);
  }} else {{
    printf("FAIL {0}: %d of %d vectors\n", failed, NUM_VECTORS);
  }}
  return failed == 0 ? 0 : 1;
}}
)",
                      model.name);
  return text;
}

}  // namespace ingot::toolchain
