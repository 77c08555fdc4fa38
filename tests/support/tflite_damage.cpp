// SPDX-License-Identifier: Apache-2.0
#include "tests/support/tflite_damage.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "support/check.h"
#include "tests/support/random.h"

namespace ingot::testing {
namespace {

// A mutation returns what it did, or nothing if the model has nothing of that kind.
using Mutation = std::string (*)(format::ModelT&, Random&);

// Numbers that tend to be forgotten, and neighbours of the number that stands there.
int32_t odd_number(Random& random, int32_t current) {
  static const std::vector<int32_t> odd = {0,
                                           1,
                                           2,
                                           3,
                                           7,
                                           8,
                                           64,
                                           127,
                                           128,
                                           255,
                                           9999,
                                           65535,
                                           65536,
                                           1 << 30,
                                           -1,
                                           -2,
                                           -3,
                                           -128,
                                           -65536,
                                           std::numeric_limits<int32_t>::max(),
                                           std::numeric_limits<int32_t>::min()};
  if (random.chance(1, 4)) {
    const int64_t near = int64_t{current} + (random.chance(1, 2) ? 1 : -1);
    return static_cast<int32_t>(static_cast<uint32_t>(near));
  }
  return random.pick(odd);
}

// The place of a random element; the vector must not be empty.
template <class T>
size_t any_place(const std::vector<T>& list, Random& random) {
  return static_cast<size_t>(random.integer(0, std::ssize(list) - 1));
}

// A random element of a list of tables; null if there is none.
template <class Table>
Table* any(const std::vector<std::unique_ptr<Table>>& tables, Random& random) {
  return tables.empty() ? nullptr : tables[any_place(tables, random)].get();
}

format::SubGraphT* any_graph(format::ModelT& model, Random& random) {
  return any(model.subgraphs, random);
}
format::TensorT* any_tensor(format::ModelT& model, Random& random) {
  const format::SubGraphT* graph = any_graph(model, random);
  return graph ? any(graph->tensors, random) : nullptr;
}
format::OperatorT* any_operator(format::ModelT& model, Random& random) {
  const format::SubGraphT* graph = any_graph(model, random);
  return graph ? any(graph->operators, random) : nullptr;
}
format::QuantizationParametersT* any_quantization(format::ModelT& model, Random& random) {
  const format::TensorT* tensor = any_tensor(model, random);
  return tensor ? tensor->quantization.get() : nullptr;
}

// Changes, adds, removes or doubles one entry of a list of numbers.
template <class Number>
std::string mutate_list(const char* what, std::vector<Number>& list, Random& random) {
  const int64_t kind = random.integer(0, 9);
  if (kind == 0 || list.empty()) {
    list.push_back(static_cast<Number>(odd_number(random, 0)));
    return fmt::format("{}: {} was added", what, list.back());
  }
  const size_t i = any_place(list, random);
  if (kind == 1) {
    list.erase(list.begin() + static_cast<std::ptrdiff_t>(i));
    return fmt::format("{}: entry {} was removed", what, i);
  }
  if (kind == 2) {
    list.clear();
    return fmt::format("{}: all entries were removed", what);
  }
  if (kind == 3) {
    list.resize(300, list[i]);
    return fmt::format("{}: 300 entries", what);
  }
  if (kind == 4) {
    const size_t j = any_place(list, random);
    std::swap(list[i], list[j]);
    return fmt::format("{}: entries {} and {} were swapped", what, i, j);
  }
  list[i] = static_cast<Number>(odd_number(random, static_cast<int32_t>(list[i])));
  return fmt::format("{}: entry {} is {}", what, i, list[i]);
}

std::string operator_inputs(format::ModelT& model, Random& random) {
  format::OperatorT* op = any_operator(model, random);
  return op ? mutate_list("inputs of an operator", op->inputs, random) : "";
}

std::string operator_outputs(format::ModelT& model, Random& random) {
  format::OperatorT* op = any_operator(model, random);
  return op ? mutate_list("outputs of an operator", op->outputs, random) : "";
}

std::string graph_inputs(format::ModelT& model, Random& random) {
  format::SubGraphT* graph = any_graph(model, random);
  return graph ? mutate_list("inputs of the graph", graph->inputs, random) : "";
}

std::string graph_outputs(format::ModelT& model, Random& random) {
  format::SubGraphT* graph = any_graph(model, random);
  return graph ? mutate_list("outputs of the graph", graph->outputs, random) : "";
}

std::string opcode_index(format::ModelT& model, Random& random) {
  format::OperatorT* op = any_operator(model, random);
  if (!op) return "";
  op->opcode_index =
      static_cast<uint32_t>(odd_number(random, static_cast<int32_t>(op->opcode_index)));
  return fmt::format("the opcode index of an operator is {}", op->opcode_index);
}

std::string tensor_shape(format::ModelT& model, Random& random) {
  format::TensorT* tensor = any_tensor(model, random);
  return tensor ? mutate_list("a shape", tensor->shape, random) : "";
}

std::string tensor_signature(format::ModelT& model, Random& random) {
  format::TensorT* tensor = any_tensor(model, random);
  return tensor ? mutate_list("a shape signature", tensor->shape_signature, random) : "";
}

std::string tensor_type(format::ModelT& model, Random& random) {
  format::TensorT* tensor = any_tensor(model, random);
  if (!tensor) return "";
  tensor->type = static_cast<format::TensorType>(random.integer(-1, 24));
  return fmt::format("the type of a tensor is {}", static_cast<int>(tensor->type));
}

std::string tensor_buffer(format::ModelT& model, Random& random) {
  format::TensorT* tensor = any_tensor(model, random);
  if (!tensor) return "";
  tensor->buffer = random.chance(1, 2) && !model.buffers.empty()
                       ? static_cast<uint32_t>(any_place(model.buffers, random))
                       : static_cast<uint32_t>(odd_number(random, 0));
  return fmt::format("the buffer of a tensor is {}", tensor->buffer);
}

std::string tensor_rest(format::ModelT& model, Random& random) {
  format::TensorT* tensor = any_tensor(model, random);
  if (!tensor) return "";
  switch (random.integer(0, 4)) {
    case 0:
      tensor->is_variable = !tensor->is_variable;
      return "a tensor is variable or no longer so";
    case 1:
      tensor->sparsity = std::make_unique<format::SparsityParametersT>();
      return "a tensor is sparse";
    case 2:
      tensor->external_buffer = 1;
      return "a tensor has an external buffer";
    case 3:
      tensor->quantization.reset();
      return "a quantisation is absent";
    default:
      tensor->name = random.chance(1, 2) ? "" : std::string("*/\n#\"\\\xff\0", 8);
      return "a tensor has a strange name";
  }
}

std::string scales(format::ModelT& model, Random& random) {
  static const std::vector<float> odd = {0.0F,
                                         -0.0F,
                                         -1.0F,
                                         1e-45F,
                                         1e-30F,
                                         1e30F,
                                         std::numeric_limits<float>::infinity(),
                                         std::numeric_limits<float>::quiet_NaN(),
                                         std::numeric_limits<float>::max()};
  format::QuantizationParametersT* quantization = any_quantization(model, random);
  if (!quantization) return "";
  std::vector<float>& list = quantization->scale;
  const int64_t kind = random.integer(0, 5);
  if (kind == 0 || list.empty()) {
    list.push_back(random.pick(odd));
    return "a scale was added";
  }
  if (kind == 1) {
    list.pop_back();
    return "a scale was removed";
  }
  float& scale = list[any_place(list, random)];
  scale = random.pick(odd);
  return fmt::format("a scale is {}", scale);
}

std::string zero_points(format::ModelT& model, Random& random) {
  format::QuantizationParametersT* quantization = any_quantization(model, random);
  if (!quantization) return "";
  std::vector<int64_t>& list = quantization->zero_point;
  if (random.chance(1, 6) && !list.empty()) {
    list[0] = random.chance(1, 2) ? std::numeric_limits<int64_t>::max()
                                  : std::numeric_limits<int64_t>::min();
    return "a zero point is far out";
  }
  return mutate_list("zero points", list, random);
}

std::string quantization_rest(format::ModelT& model, Random& random) {
  format::QuantizationParametersT* quantization = any_quantization(model, random);
  if (!quantization) return "";
  if (random.chance(1, 4)) {
    quantization->details.Set(format::BlockwiseQuantizationT{});
    return "a quantisation is by blocks";
  }
  quantization->quantized_dimension = odd_number(random, quantization->quantized_dimension);
  return fmt::format("a quantised dimension is {}", quantization->quantized_dimension);
}

std::string buffer(format::ModelT& model, Random& random) {
  format::BufferT* chosen = any(model.buffers, random);
  if (!chosen) return "";
  switch (random.integer(0, 4)) {
    case 0:
      chosen->data.clear();
      return "a buffer is empty";
    case 1:
      chosen->data.push_back(0);
      return "a buffer is too long";
    case 2:
      chosen->offset = static_cast<uint64_t>(odd_number(random, 1));
      chosen->size = static_cast<uint64_t>(odd_number(random, 1));
      return "a buffer lies outside";
    case 3:
      if (chosen->data.empty()) return "";
      chosen->data.pop_back();
      return "a buffer is too short";
    default:
      if (chosen->data.empty()) return "";
      chosen->data[any_place(chosen->data, random)] = static_cast<uint8_t>(random.next());
      return "a byte of a buffer is another one";
  }
}

std::string operator_code(format::ModelT& model, Random& random) {
  format::OperatorCodeT* code = any(model.operator_codes, random);
  if (!code) return "";
  switch (random.integer(0, 4)) {
    case 0:
      code->builtin_code = static_cast<BuiltinOperator>(odd_number(random, 0));
      break;
    case 1:
      code->builtin_code = static_cast<BuiltinOperator>(random.integer(0, 209));
      break;
    case 2:
      code->deprecated_builtin_code = static_cast<int8_t>(random.integer(-128, 127));
      break;
    case 3:
      code->version = odd_number(random, code->version);
      break;
    default:
      code->custom_code = "strange";
      break;
  }
  return fmt::format("operator code {}/{}, version {}", static_cast<int>(code->builtin_code),
                     static_cast<int>(code->deprecated_builtin_code), code->version);
}

// Sets one field, known by the address of a member, to an odd number.
template <class Options, class... Members>
bool mutate_fields(Options* options, Random& random, Members... members) {
  if (!options) return false;
  const auto set = [&](auto& field) {
    using Field = std::remove_reference_t<decltype(field)>;
    if constexpr (std::is_same_v<Field, float>) {
      field = random.chance(1, 2) ? std::numeric_limits<float>::quiet_NaN() : -1.0F;
    } else if constexpr (std::is_same_v<Field, bool>) {
      field = !field;
    } else if constexpr (std::is_same_v<Field, std::vector<int32_t>>) {
      mutate_list("a list of options", field, random);
    } else {
      field = static_cast<Field>(odd_number(random, static_cast<int32_t>(field)));
    }
  };
  const int64_t chosen = random.integer(0, static_cast<int64_t>(sizeof...(members)) - 1);
  int64_t i = 0;
  ((i++ == chosen ? set(options->*members) : void()), ...);
  return true;
}

std::string option(format::ModelT& model, Random& random) {
  format::OperatorT* op = any_operator(model, random);
  if (!op) return "";
  using Conv = format::Conv2DOptionsT;
  using Depthwise = format::DepthwiseConv2DOptionsT;
  using Pooling = format::Pool2DOptionsT;
  using Dense = format::FullyConnectedOptionsT;
  using Concatenation = format::ConcatenationOptionsT;
  format::BuiltinOptionsUnion& any_options = op->builtin_options;
  const bool changed =
      mutate_fields(any_options.AsConv2DOptions(), random, &Conv::padding, &Conv::stride_w,
                    &Conv::stride_h, &Conv::fused_activation_function, &Conv::dilation_w_factor,
                    &Conv::dilation_h_factor) ||
      mutate_fields(any_options.AsDepthwiseConv2DOptions(), random, &Depthwise::padding,
                    &Depthwise::stride_w, &Depthwise::stride_h, &Depthwise::depth_multiplier,
                    &Depthwise::fused_activation_function, &Depthwise::dilation_w_factor,
                    &Depthwise::dilation_h_factor) ||
      mutate_fields(any_options.AsPool2DOptions(), random, &Pooling::padding, &Pooling::stride_w,
                    &Pooling::stride_h, &Pooling::filter_width, &Pooling::filter_height,
                    &Pooling::fused_activation_function) ||
      mutate_fields(any_options.AsFullyConnectedOptions(), random, &Dense::weights_format,
                    &Dense::keep_num_dims, &Dense::fused_activation_function) ||
      mutate_fields(any_options.AsConcatenationOptions(), random, &Concatenation::axis,
                    &Concatenation::fused_activation_function) ||
      mutate_fields(any_options.AsSoftmaxOptions(), random, &format::SoftmaxOptionsT::beta) ||
      mutate_fields(any_options.AsAddOptions(), random,
                    &format::AddOptionsT::fused_activation_function) ||
      mutate_fields(any_options.AsSubOptions(), random,
                    &format::SubOptionsT::fused_activation_function) ||
      mutate_fields(any_options.AsMulOptions(), random,
                    &format::MulOptionsT::fused_activation_function) ||
      mutate_fields(any_options.AsReshapeOptions(), random, &format::ReshapeOptionsT::new_shape) ||
      mutate_fields(any_options.AsSqueezeOptions(), random,
                    &format::SqueezeOptionsT::squeeze_dims) ||
      mutate_fields(any_options.AsReducerOptions(), random, &format::ReducerOptionsT::keep_dims);
  return changed ? fmt::format("{} changed", format::EnumNameBuiltinOptions(any_options.type)) : "";
}

// The options are absent, or those of another operator.
std::string options_table(format::ModelT& model, Random& random) {
  format::OperatorT* op = any_operator(model, random);
  const format::OperatorT* other = any_operator(model, random);
  if (!op || !other) return "";
  if (random.chance(1, 3)) {
    op->builtin_options.Reset();
    return "the options of an operator are absent";
  }
  if (random.chance(1, 4)) {
    op->builtin_options_2.Set(format::DilateOptionsT{});
    return "an operator has later options";
  }
  const format::BuiltinOptionsUnion copy = other->builtin_options;
  op->builtin_options = copy;
  return "an operator has the options of another one";
}

// Operators and tensors as lists: one removed, doubled, or swapped with another.
template <class Table>
std::string mutate_tables(const char* what, std::vector<std::unique_ptr<Table>>& tables,
                          Random& random) {
  if (tables.empty()) return "";
  const size_t i = any_place(tables, random);
  const size_t j = any_place(tables, random);
  switch (random.integer(0, 3)) {
    case 0:
      tables.erase(tables.begin() + static_cast<std::ptrdiff_t>(i));
      return fmt::format("{}: {} was removed", what, i);
    case 1:
      tables.push_back(std::make_unique<Table>(*tables[i]));
      return fmt::format("{}: {} was doubled", what, i);
    case 2:
      if (random.chance(3, 4)) return "";
      tables.clear();
      return fmt::format("{}: all were removed", what);
    default:
      std::swap(tables[i], tables[j]);
      return fmt::format("{}: {} and {} were swapped", what, i, j);
  }
}

std::string tables(format::ModelT& model, Random& random) {
  format::SubGraphT* graph = any_graph(model, random);
  if (!graph) return "";
  switch (random.integer(0, 5)) {
    case 0:
      return mutate_tables("tensors", graph->tensors, random);
    case 1:
      return mutate_tables("buffers", model.buffers, random);
    case 2:
      return mutate_tables("operator codes", model.operator_codes, random);
    case 3:
      return mutate_tables("subgraphs", model.subgraphs, random);
    default:
      return mutate_tables("operators", graph->operators, random);
  }
}

std::string version(format::ModelT& model, Random& random) {
  model.version = static_cast<uint32_t>(odd_number(random, 3));
  return fmt::format("version {}", model.version);
}

constexpr Mutation kMutations[] = {
    operator_inputs, operator_outputs,  graph_inputs, graph_outputs, opcode_index, tensor_shape,
    tensor_shape,    tensor_signature,  tensor_type,  tensor_buffer, tensor_rest,  scales,
    zero_points,     quantization_rest, buffer,       operator_code, option,       option,
    option,          options_table,     tables,       version};

}  // namespace

std::string mutate(format::ModelT& model, uint64_t seed) {
  Random random(seed);
  for (int tries = 0; tries < 100; ++tries) {
    const Mutation mutation =
        kMutations[random.integer(0, static_cast<int64_t>(std::size(kMutations)) - 1)];
    const std::string done = mutation(model, random);
    if (!done.empty()) return done;
  }
  return "nothing";
}

std::vector<uint8_t> truncated(const std::vector<uint8_t>& file, int64_t size) {
  CHECK(0 <= size && size <= std::ssize(file));
  return {file.begin(), file.begin() + static_cast<std::ptrdiff_t>(size)};
}

std::vector<uint8_t> with_bytes(std::vector<uint8_t> file, int64_t offset,
                                const std::vector<uint8_t>& bytes) {
  CHECK(0 <= offset && offset + std::ssize(bytes) <= std::ssize(file));
  std::copy(bytes.begin(), bytes.end(), file.begin() + static_cast<std::ptrdiff_t>(offset));
  return file;
}

std::vector<uint8_t> corrupted(std::vector<uint8_t> file, uint64_t seed, int64_t count) {
  CHECK(!file.empty());
  Random random(seed);
  for (int64_t i = 0; i < count; ++i) {
    uint8_t& byte = file[any_place(file, random)];
    byte = static_cast<uint8_t>(byte ^ random.integer(1, 255));
  }
  return file;
}

std::vector<uint8_t> size_prefixed(const std::vector<uint8_t>& file) {
  std::vector<uint8_t> prefixed;
  for (int shift = 0; shift < 32; shift += 8) {
    prefixed.push_back(static_cast<uint8_t>(file.size() >> shift));
  }
  prefixed.insert(prefixed.end(), file.begin(), file.end());
  return prefixed;
}

}  // namespace ingot::testing
