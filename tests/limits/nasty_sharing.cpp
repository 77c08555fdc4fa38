// SPDX-License-Identifier: Apache-2.0
// Models written with FlatBuffers directly: many offsets to one table, vector or string, which our
// writer and all converters write once for each.
#include <fmt/format.h>

#include "tests/limits/nasty_models.h"
#include "tflite_generated.h"

namespace ingot::testing {
namespace {

namespace format = tflite_format;
using File = std::vector<uint8_t>;
using flatbuffers::FlatBufferBuilder;
using flatbuffers::Offset;
template <class T>
using Offsets = std::vector<Offset<T>>;

// What a model is made of, each part as often as the row says.
struct Parts {
  Offsets<format::Tensor> tensors;
  Offsets<format::Operator> operators;
  Offsets<format::Buffer> buffers;
  Offsets<format::Metadata> metadata;
  std::vector<int32_t> inputs = {0};
  std::vector<int32_t> outputs = {1};
  int64_t num_subgraphs = 1;
};

File finish(FlatBufferBuilder& builder, const Parts& parts,
            format::BuiltinOperator code = format::BuiltinOperator::RELU) {
  const auto graph = format::CreateSubGraphDirect(builder, &parts.tensors, &parts.inputs,
                                                  &parts.outputs, &parts.operators);
  const Offsets<format::SubGraph> graphs(static_cast<size_t>(parts.num_subgraphs), graph);
  const Offsets<format::OperatorCode> codes = {
      format::CreateOperatorCodeDirect(builder, static_cast<int8_t>(code), nullptr, 1, code)};
  const auto model = format::CreateModelDirect(
      builder, 3, &codes, &graphs, nullptr, parts.buffers.empty() ? nullptr : &parts.buffers,
      nullptr, parts.metadata.empty() ? nullptr : &parts.metadata);
  format::FinishModelBuffer(builder, model);
  return {builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize()};
}

Offset<format::Tensor> tensor(FlatBufferBuilder& builder, int32_t extent, uint32_t buffer,
                              const char* name) {
  const std::vector<int32_t> shape = {extent};
  return format::CreateTensorDirect(builder, &shape, format::TensorType::FLOAT32, buffer, name);
}

Offset<format::Operator> relu(FlatBufferBuilder& builder, int32_t input, int32_t output) {
  const std::vector<int32_t> inputs = {input};
  const std::vector<int32_t> outputs = {output};
  return format::CreateOperatorDirect(builder, 0, &inputs, &outputs);
}

// x -> RELU -> y, to which the rows add.
Parts small(FlatBufferBuilder& builder) {
  Parts parts;
  parts.tensors = {tensor(builder, 4, 0, "x"), tensor(builder, 4, 0, "y")};
  parts.operators = {relu(builder, 0, 1)};
  return parts;
}

File operators(int64_t count) {
  FlatBufferBuilder builder;
  Parts parts = small(builder);
  parts.operators.resize(static_cast<size_t>(count), parts.operators[0]);
  return finish(builder, parts);
}

File tensors(int64_t count) {
  FlatBufferBuilder builder;
  Parts parts = small(builder);
  parts.tensors.resize(static_cast<size_t>(count), parts.tensors[0]);
  return finish(builder, parts);
}

File buffers(int64_t count) {
  FlatBufferBuilder builder;
  Parts parts = small(builder);
  parts.buffers.resize(static_cast<size_t>(count), format::CreateBuffer(builder));
  return finish(builder, parts);
}

File subgraphs(int64_t count) {
  FlatBufferBuilder builder;
  Parts parts = small(builder);
  parts.num_subgraphs = count;
  return finish(builder, parts);
}

File metadata(int64_t count) {
  FlatBufferBuilder builder;
  Parts parts = small(builder);
  const auto entry = format::CreateMetadataDirect(builder, std::string(1000, 'm').c_str(), 99);
  parts.metadata.resize(static_cast<size_t>(count), entry);
  return finish(builder, parts);
}

File outputs(int64_t count) {
  FlatBufferBuilder builder;
  Parts parts = small(builder);
  parts.outputs.assign(static_cast<size_t>(count), 1);
  return finish(builder, parts);
}

// One list of inputs, which no operator may have that long.
File operands(int64_t count, int64_t readers) {
  FlatBufferBuilder builder;
  Parts parts = small(builder);
  const std::vector<int32_t> inputs(static_cast<size_t>(count), 0);
  const std::vector<int32_t> outputs = {1};
  parts.operators.assign(static_cast<size_t>(readers),
                         format::CreateOperatorDirect(builder, 0, &inputs, &outputs));
  return finish(builder, parts);
}

// Concatenations of one tensor with itself, each element of which is a copy.
File concatenations(int64_t count, int64_t pieces) {
  FlatBufferBuilder builder;
  Parts parts;
  parts.tensors = {tensor(builder, 4, 0, "x")};
  parts.outputs = {};
  const std::vector<int32_t> inputs(static_cast<size_t>(pieces), 0);
  for (int32_t i = 1; i <= count; ++i) {
    parts.tensors.push_back(tensor(builder, static_cast<int32_t>(4 * pieces), 0, "y"));
    const std::vector<int32_t> outputs = {i};
    const auto options = format::CreateConcatenationOptions(builder, 0);
    parts.operators.push_back(format::CreateOperatorDirect(
        builder, 0, &inputs, &outputs, format::BuiltinOptions::ConcatenationOptions,
        options.Union()));
    parts.outputs.push_back(i);
  }
  return finish(builder, parts, format::BuiltinOperator::CONCATENATION);
}

// Tensors of one long name, in a chain.
File one_name(int64_t count) {
  FlatBufferBuilder builder;
  Parts parts;
  const auto name = builder.CreateString(std::string(5000, 'n'));
  const auto shape = builder.CreateVector(std::vector<int32_t>{4});
  parts.tensors.assign(static_cast<size_t>(count),
                       format::CreateTensor(builder, shape, format::TensorType::FLOAT32, 0, name));
  for (int32_t i = 1; i < count; ++i) parts.operators.push_back(relu(builder, i - 1, i));
  parts.outputs = {static_cast<int32_t>(count - 1)};
  return finish(builder, parts);
}

// Constants that are all the same bytes of the file, each an output: by tensors of one buffer, or
// by buffers of one vector.
File one_constant(int64_t count, int32_t floats, bool one_buffer) {
  FlatBufferBuilder builder;
  Parts parts;
  const auto data = builder.CreateVector(std::vector<uint8_t>(static_cast<size_t>(floats) * 4));
  const auto buffer = format::CreateBuffer(builder, data);
  parts.buffers = {format::CreateBuffer(builder)};
  parts.inputs = {};
  parts.outputs = {};
  for (int32_t i = 0; i < count; ++i) {
    if (i == 0 || !one_buffer) parts.buffers.push_back(buffer);
    parts.tensors.push_back(
        tensor(builder, floats, static_cast<uint32_t>(parts.buffers.size() - 1), "c"));
    parts.outputs.push_back(i);
  }
  return finish(builder, parts);
}

// Each reads the same constant of 1 MiB.
File readers(int32_t count) {
  FlatBufferBuilder builder;
  Parts parts;
  constexpr int32_t kFloats = 1 << 18;
  const auto data = builder.CreateVector(std::vector<uint8_t>(size_t{4} * kFloats));
  parts.buffers = {format::CreateBuffer(builder), format::CreateBuffer(builder, data)};
  parts.tensors = {tensor(builder, kFloats, 1, "c")};
  parts.inputs = {};
  parts.outputs = {};
  for (int32_t i = 1; i <= count; ++i) {
    parts.tensors.push_back(tensor(builder, kFloats, 0, "y"));
    parts.operators.push_back(relu(builder, 0, i));
    parts.outputs.push_back(i);
  }
  return finish(builder, parts);
}

}  // namespace

std::vector<NastyModel> sharing_models() {
  return {
      // Z18, K09.
      {"999,999 operators", [] { return operators(999999); }, "999999 operators, at most"},
      {"3,000,000 tensors", [] { return tensors(3000000); }, "3000000 tensors, at most"},
      {"3,000,000 buffers", [] { return buffers(3000000); }, "3000000 buffers, at most"},
      {"too many tables", [] { return buffers(9000000); }, "the file is damaged"},
      {"100,000 subgraphs", [] { return subgraphs(100000); }},
      {"1,000,000 metadata", [] { return metadata(1000000); }},
      {"one tensor as 16,000 outputs", [] { return outputs(16000); }},
      {"one tensor as 1,000,000 outputs", [] { return outputs(1000000); },
       "1000001 inputs and outputs, at most"},
      {"1,000,000 operands", [] { return operands(1000000, 10000); },
       "1000001 inputs and outputs, at most"},
      {"4,000 operands of 10,000 operators", [] { return operands(4000, 10000); },
       "inputs and outputs of operators, at most"},
      {"4,000 operands of 16 concatenations", [] { return concatenations(16, 4000); }},
      {"one long name", [] { return one_name(10000); }},
      {"one buffer, many constants", [] { return one_constant(45, 1 << 18, true); }},
      {"one buffer, too many constants", [] { return one_constant(1000, 1 << 18, true); },
       "the constants up to here"},
      {"one vector, too many constants", [] { return one_constant(1000, 1 << 18, false); },
       "the constants up to here"},
      {"one constant, many readers", [] { return readers(45); }},
      {"one constant, too many readers", [] { return readers(50); }, "bytes of constants, at most"},
  };
}

}  // namespace ingot::testing
