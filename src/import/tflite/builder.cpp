// SPDX-License-Identifier: Apache-2.0
#include "import/tflite/builder.h"

#include <fmt/format.h>

#include "graph/verify.h"

namespace ingot::tflite {
namespace {

// Lists of tensors in diagnostics end after so many.
constexpr size_t kMostNotes = 8;

std::string note(std::string_view role, const std::string& name, const TensorType& type) {
  std::string text = fmt::format("{:6} {} {}", role, quote(name), print_plain(type));
  if (!type.quantization) return text;
  if (!type.quantization->per_tensor()) return text + " per channel";
  return text + fmt::format(" scale {} zero_point {}", type.scale(), type.zero_point());
}

// Whether the file's word on a shape can stand beside the inferred one. Open extents fit anything.
bool agrees(const Tensor& tensor, const Shape& inferred) {
  if (!tensor.has_shape) return true;
  const Shape& declared = tensor.type.shape;
  if (declared.size() != inferred.size()) return false;
  for (size_t i = 0; i < declared.size(); ++i) {
    if (declared[i] != inferred[i] && !tensor.is_open[i]) return false;
  }
  return true;
}

template <class T>
std::vector<int64_t> widened(const Bytes& bytes) {
  const std::vector<T> elements = bytes.as<T>();
  return {elements.begin(), elements.end()};
}

}  // namespace

GraphBuilder::GraphBuilder(const Model& model, const std::vector<Tensor>& tensors,
                           const ImportOptions& options, UniqueNames& names, Report& report)
    : model_(model),
      tensors_(tensors),
      options_(options),
      names_(names),
      report_(report),
      values_(tensors.size()) {
  graph_.name = options.name;
  for (const int64_t input : model.inputs) graph_.inputs.push_back(value_of(input));
}

const TensorType& GraphBuilder::type_of(int64_t tensor) const {
  const ValueId value = values_.at(static_cast<size_t>(tensor));
  return value.present() ? graph_[value].type : this->tensor(tensor).type;
}

ValueId GraphBuilder::value_of(int64_t tensor) {
  ValueId& value = values_.at(static_cast<size_t>(tensor));
  const Tensor& source = this->tensor(tensor);
  if (!value.present()) value = graph_.add({source.name, source.type, source.constant});
  return value;
}

ValueId GraphBuilder::inner_value(int64_t tensor, const std::string& suffix,
                                  const TensorType& type) {
  const std::string name = this->tensor(tensor).name + suffix;
  return graph_.add({names_.unique(name, name), type, std::nullopt});
}

std::optional<TensorType> GraphBuilder::infer(const Operator& source, const Op& op,
                                              const std::vector<ValueId>& inputs,
                                              const TensorType& declared) {
  if (!options_.infer) return declared;
  std::vector<Operand> operands;
  for (const ValueId input : inputs) {
    Operand operand;
    if (input.present()) {
      const Value& value = graph_[input];
      operand = {&value.type, value.constant ? &*value.constant : nullptr};
    }
    operands.push_back(operand);
  }
  const Result<std::vector<TensorType>> types = options_.infer(op, operands, {&declared, 1});
  if (!types) {
    for (const Diagnostic& fault : types.error()) {
      report_.error(fault.code, model_.describe(source), fault.what, fault.hint, notes_of(source));
    }
    return std::nullopt;
  }
  const TensorType& type = types->at(0);
  const std::string excess = find_excess(type.shape, type.dtype, options_.limits);
  if (!excess.empty()) {
    report_.error(Code::kModelLimit, model_.describe(source), "the output: " + excess);
    return std::nullopt;
  }
  // Scales per channel fitted the shape in the file; this one may be another.
  for (const std::string& fault : find_faults(type)) {
    report_.error(Code::kQuantizationMalformed, model_.describe(source), "the output " + fault, "",
                  notes_of(source));
    return std::nullopt;
  }
  return type;
}

bool GraphBuilder::append(const Operator& source, Op op, const std::vector<ValueId>& inputs,
                          ValueId output, const std::string& name) {
  std::optional<TensorType> type = infer(source, op, inputs, graph_[output].type);
  if (!type) return false;
  graph_[output].type = std::move(*type);
  graph_.nodes.push_back({name, std::move(op), inputs, {output}, {}, {}, {source.index}});
  return true;
}

void GraphBuilder::compare_shapes(const Operator& source, int64_t tensor) {
  const Tensor& declared = this->tensor(tensor);
  const Shape& inferred = type_of(tensor).shape;
  if (agrees(declared, inferred)) return;
  report_.warning(Severity::kWarning, Code::kShapeDisagrees, model_.describe(source),
                  fmt::format("the output {} is {} in the file, but the operator yields {}",
                              quote(declared.name), print(declared.type.shape), print(inferred)),
                  "the operator's shape is used");
}

std::vector<std::string> GraphBuilder::notes_of(const Operator& op) const {
  std::vector<std::string> notes;
  const auto list = [&](std::string_view role, const std::vector<int64_t>& tensors) {
    for (const int64_t index : tensors) {
      if (index < 0 || !tensor(index).usable) continue;
      if (notes.size() == kMostNotes) {
        notes.push_back("...");
        return;
      }
      if (notes.size() < kMostNotes)
        notes.push_back(note(role, tensor(index).name, type_of(index)));
    }
  };
  list("input", op.inputs);
  list("output", op.outputs);
  return notes;
}

Graph GraphBuilder::take() {
  for (const int64_t output : model_.outputs) graph_.outputs.push_back(value_of(output));
  return std::move(graph_);
}

bool OperatorReader::fail(Code code, std::string what, std::string hint) {
  Report& report = builder_.report();
  if (report.is_full()) {
    report.count_error();
  } else {
    report.error(code, builder_.model().describe(op_), std::move(what), std::move(hint),
                 builder_.notes_of(op_));
  }
  return false;
}

bool OperatorReader::has_rank(int64_t i, int64_t rank, std::string_view what) {
  if (input_type(i).rank() == rank) return true;
  return malformed(fmt::format("{} has rank {} instead of {}", what, input_type(i).rank(), rank));
}

std::optional<std::vector<int64_t>> OperatorReader::integers(int64_t i, std::string_view what,
                                                             int64_t most) {
  const Tensor& tensor = builder_.tensor(op_.inputs.at(static_cast<size_t>(i)));
  if (!tensor.constant) {
    fail(Code::kOperatorUnsupported, fmt::format("{} is not constant", what));
    return std::nullopt;
  }
  if (tensor.type.num_elements() > most) {
    malformed(fmt::format("{} has {} elements, at most {} make sense", what,
                          tensor.type.num_elements(), most));
    return std::nullopt;
  }
  if (tensor.type.dtype == DType::kInt32) return widened<int32_t>(*tensor.constant);
  if (tensor.type.dtype == DType::kInt64) return widened<int64_t>(*tensor.constant);
  malformed(fmt::format("{} is of type {} instead of int32", what, name_of(tensor.type.dtype)));
  return std::nullopt;
}

std::optional<double> OperatorReader::element(int64_t i, std::string_view what) {
  const Tensor& tensor = builder_.tensor(op_.inputs.at(static_cast<size_t>(i)));
  if (!tensor.constant) {
    fail(Code::kOperatorUnsupported, fmt::format("{} is not constant", what));
    return std::nullopt;
  }
  switch (tensor.type.dtype) {
    case DType::kInt8:
      return tensor.constant->as<int8_t>().at(0);
    case DType::kUInt8:
      return tensor.constant->as<uint8_t>().at(0);
    case DType::kInt16:
      return tensor.constant->as<int16_t>().at(0);
    case DType::kInt32:
      return tensor.constant->as<int32_t>().at(0);
    case DType::kFloat32:
      return tensor.constant->as<float>().at(0);
    default:
      fail(Code::kOperatorUnsupported,
           fmt::format("{} of type {} is not supported", what, name_of(tensor.type.dtype)));
      return std::nullopt;
  }
}

void OperatorReader::refuse_options() {
  const std::string name = format::EnumNameBuiltinOptions(op_.table->builtin_options_type());
  malformed(fmt::format("its options are {}",
                        name.empty() ? "of an unknown kind" : name + ", of another operator"));
}

std::vector<ValueId> OperatorReader::values(const std::vector<int64_t>& positions) {
  std::vector<ValueId> list;
  for (const int64_t position : positions) {
    list.push_back(has_input(position)
                       ? builder_.value_of(op_.inputs[static_cast<size_t>(position)])
                       : ValueId());
  }
  return list;
}

bool OperatorReader::emit(Op op, const std::vector<int64_t>& positions,
                          format::Activation activation) {
  if (activation != format::Activation::NONE) {
    const std::optional<Clamp> clamp = clamp_of(activation, output_type());
    if (clamp) return emit_chain(std::move(op), positions, *clamp);
    const std::string name = format::EnumNameActivation(activation);
    return fail(
        Code::kOperatorUnsupported,
        fmt::format("the fused activation {} is not supported for {}",
                    name.empty() ? "of an unknown kind" : name, print_plain(output_type())));
  }
  return emit_to(op_.outputs[0], std::move(op), values(positions));
}

bool OperatorReader::emit_chain(Op first, const std::vector<int64_t>& positions, Op second) {
  const ValueId inner = builder_.inner_value(op_.outputs[0], "/pre_activation", output_type());
  return emit_chain_to(op_.outputs[0], std::move(first), values(positions), inner,
                       std::move(second));
}

bool OperatorReader::emit_part(int64_t output, int64_t x, Slice part,
                               std::optional<Reshape> shaped) {
  const int64_t tensor = op_.outputs.at(static_cast<size_t>(output));
  if (!shaped) return emit_to(tensor, std::move(part), values({x}));
  TensorType type = builder_.tensor(tensor).type;
  type.shape = part.size;
  const ValueId inner = builder_.inner_value(tensor, "/part", type);
  return emit_chain_to(tensor, std::move(part), values({x}), inner, *std::move(shaped));
}

bool OperatorReader::emit_to(int64_t output, Op op, const std::vector<ValueId>& inputs) {
  if (!builder_.append(op_, std::move(op), inputs, builder_.value_of(output),
                       builder_.tensor(output).name)) {
    return false;
  }
  builder_.compare_shapes(op_, output);
  return true;
}

bool OperatorReader::emit_chain_to(int64_t output, Op first, const std::vector<ValueId>& inputs,
                                   ValueId inner, Op second) {
  const std::string& name = builder_.tensor(output).name;
  if (!builder_.append(op_, std::move(first), inputs, inner, name) ||
      !builder_.append(op_, std::move(second), {inner}, builder_.value_of(output), name)) {
    return false;
  }
  builder_.compare_shapes(op_, output);
  return true;
}

}  // namespace ingot::tflite
