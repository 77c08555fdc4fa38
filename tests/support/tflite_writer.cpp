// SPDX-License-Identifier: Apache-2.0
#include "tests/support/tflite_writer.h"

#include <algorithm>
#include <iterator>

#include "support/check.h"

namespace ingot::testing {
namespace {

struct Row {
  DType dtype;
  format::TensorType type;
};
constexpr Row kTypes[] = {
    {DType::kBool, format::TensorType::BOOL},       {DType::kInt8, format::TensorType::INT8},
    {DType::kUInt8, format::TensorType::UINT8},     {DType::kInt16, format::TensorType::INT16},
    {DType::kUInt16, format::TensorType::UINT16},   {DType::kInt32, format::TensorType::INT32},
    {DType::kUInt32, format::TensorType::UINT32},   {DType::kInt64, format::TensorType::INT64},
    {DType::kUInt64, format::TensorType::UINT64},   {DType::kFloat16, format::TensorType::FLOAT16},
    {DType::kFloat32, format::TensorType::FLOAT32}, {DType::kFloat64, format::TensorType::FLOAT64},
};

}  // namespace

format::TensorType to_format(DType dtype) {
  const auto* row = std::find_if(std::begin(kTypes), std::end(kTypes),
                                 [&](const Row& candidate) { return candidate.dtype == dtype; });
  CHECK(row != std::end(kTypes));
  return row->type;
}

std::optional<DType> to_dtype(format::TensorType type) {
  for (const Row& row : kTypes) {
    if (row.type == type) return row.dtype;
  }
  return std::nullopt;
}

std::unique_ptr<format::QuantizationParametersT> to_format(const Quantization& quantization) {
  auto parameters = std::make_unique<format::QuantizationParametersT>();
  parameters->scale = quantization.scales;
  parameters->zero_point = quantization.zero_points;
  parameters->quantized_dimension = static_cast<int32_t>(std::max<int64_t>(quantization.axis, 0));
  return parameters;
}

std::vector<int32_t> narrow(const std::vector<int64_t>& numbers) {
  std::vector<int32_t> narrowed;
  for (const int64_t number : numbers) {
    narrowed.push_back(static_cast<int32_t>(number));
    CHECK(narrowed.back() == number);
  }
  return narrowed;
}

std::vector<uint8_t> serialize(const format::ModelT& model) {
  flatbuffers::FlatBufferBuilder builder;
  format::FinishModelBuffer(builder, format::Model::Pack(builder, &model));
  return {builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize()};
}

bool verifies(const std::vector<uint8_t>& file) {
  flatbuffers::Verifier verifier(file.data(), file.size());
  return format::VerifyModelBuffer(verifier);
}

std::unique_ptr<format::ModelT> unpack(const std::vector<uint8_t>& file) {
  CHECK(verifies(file));
  return format::UnPackModel(file.data());
}

TfliteWriter::TfliteWriter(OpcodeForm form) : form_(form) {
  model_.version = 3;
  model_.description = "written by Ingot's tests";
  model_.buffers.push_back(std::make_unique<format::BufferT>());
  subgraph("main");
}

int64_t TfliteWriter::tensor(format::TensorT tensor) {
  graph().tensors.push_back(std::make_unique<format::TensorT>(std::move(tensor)));
  return std::ssize(graph().tensors) - 1;
}

int64_t TfliteWriter::tensor(std::string name, const TensorType& type) {
  format::TensorT tensor_of_type;
  tensor_of_type.name = std::move(name);
  tensor_of_type.type = to_format(type.dtype);
  tensor_of_type.shape = narrow(type.shape);
  tensor_of_type.has_rank = true;
  if (type.quantization) tensor_of_type.quantization = to_format(*type.quantization);
  return tensor(std::move(tensor_of_type));
}

int64_t TfliteWriter::constant(std::string name, const TensorType& type, const Bytes& data) {
  const int64_t index = tensor(std::move(name), type);
  set_data(index, data);
  return index;
}

int64_t TfliteWriter::input(std::string name, const TensorType& type,
                            const Shape& shape_signature) {
  const int64_t index = tensor(std::move(name), type);
  tensor_at(index).shape_signature = narrow(shape_signature);
  graph().inputs.push_back(static_cast<int32_t>(index));
  return index;
}

int64_t TfliteWriter::set_data(int64_t tensor, const Bytes& data) {
  auto buffer = std::make_unique<format::BufferT>();
  buffer->data.assign(data.view().begin(), data.view().end());
  model_.buffers.push_back(std::move(buffer));
  tensor_at(tensor).buffer = static_cast<uint32_t>(model_.buffers.size() - 1);
  return std::ssize(model_.buffers) - 1;
}

int64_t TfliteWriter::output(int64_t tensor) {
  graph().outputs.push_back(static_cast<int32_t>(tensor));
  return tensor;
}

TensorType TfliteWriter::type_of(int64_t tensor) const {
  const format::TensorT& stated = *model_.subgraphs.back()->tensors.at(static_cast<size_t>(tensor));
  const std::optional<DType> dtype = to_dtype(stated.type);
  CHECK(dtype);
  TensorType type{*dtype, Shape(stated.shape.begin(), stated.shape.end()), std::nullopt};
  if (stated.quantization && !stated.quantization->scale.empty()) {
    const format::QuantizationParametersT& stated_as = *stated.quantization;
    const bool per_channel = stated_as.scale.size() > 1;
    type.quantization = Quantization{stated_as.scale, stated_as.zero_point,
                                     per_channel ? stated_as.quantized_dimension : -1};
  }
  return type;
}

int64_t TfliteWriter::opcode(BuiltinOperator code, const std::string& custom_code,
                             int64_t version) {
  const auto number = static_cast<int64_t>(code);
  format::OperatorCodeT wanted;
  wanted.custom_code = custom_code;
  wanted.version = static_cast<int32_t>(version);
  if (form_ != OpcodeForm::kExtendedOnly) {
    wanted.deprecated_builtin_code = static_cast<int8_t>(std::clamp<int64_t>(number, -128, 127));
  }
  if (form_ != OpcodeForm::kDeprecatedOnly) wanted.builtin_code = code;
  for (size_t i = 0; i < model_.operator_codes.size(); ++i) {
    if (*model_.operator_codes[i] == wanted) return static_cast<int64_t>(i);
  }
  model_.operator_codes.push_back(std::make_unique<format::OperatorCodeT>(wanted));
  return std::ssize(model_.operator_codes) - 1;
}

format::OperatorT& TfliteWriter::append(int64_t opcode_index, const std::vector<int64_t>& inputs,
                                        const std::vector<int64_t>& outputs) {
  auto op = std::make_unique<format::OperatorT>();
  op->opcode_index = static_cast<uint32_t>(opcode_index);
  op->inputs = narrow(inputs);
  op->outputs = narrow(outputs);
  graph().operators.push_back(std::move(op));
  return last_operator();
}

void TfliteWriter::custom(const std::string& name, const std::vector<int64_t>& inputs,
                          const std::vector<int64_t>& outputs,
                          const std::vector<uint8_t>& options) {
  append(opcode(BuiltinOperator::CUSTOM, name, 1), inputs, outputs).custom_options = options;
}

int64_t TfliteWriter::subgraph(std::string name) {
  auto graph = std::make_unique<format::SubGraphT>();
  graph->name = std::move(name);
  model_.subgraphs.push_back(std::move(graph));
  return std::ssize(model_.subgraphs) - 1;
}

void TfliteWriter::metadata(std::string name, const Bytes& data) {
  auto buffer = std::make_unique<format::BufferT>();
  buffer->data.assign(data.view().begin(), data.view().end());
  model_.buffers.push_back(std::move(buffer));
  auto entry = std::make_unique<format::MetadataT>();
  entry->name = std::move(name);
  entry->buffer = static_cast<uint32_t>(model_.buffers.size() - 1);
  model_.metadata.push_back(std::move(entry));
}

std::vector<uint8_t> TfliteWriter::bytes() const { return serialize(model_); }

}  // namespace ingot::testing
