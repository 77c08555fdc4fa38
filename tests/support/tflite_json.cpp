// SPDX-License-Identifier: Apache-2.0
#include "tests/support/tflite_json.h"

#include <flatbuffers/idl.h>
#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "tests/support/tflite_json_data.h"
#include "tests/support/tflite_writer.h"
#include "tflite_bfbs_generated.h"

namespace ingot::testing {
namespace {

using nlohmann::json;

std::string upper_case(std::string text) {
  for (char& c : text) {
    if ('a' <= c && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return text;
}

// The enumerator of that name; letters match in any case.
template <class Values, class NameOf>
auto find_enumerator(const std::string& name, const Values& values, NameOf name_of_value) {
  for (const auto value : values) {
    if (upper_case(name_of_value(value)) == upper_case(name)) return value;
  }
  throw std::runtime_error(fmt::format("the format has no \"{}\"", name));
}

format::TensorType tensor_type(const std::string& name) {
  return find_enumerator(name, format::EnumValuesTensorType(), format::EnumNameTensorType);
}

// The table of options of an operator: that of its name, but for a few that share one.
format::BuiltinOptions options_of(BuiltinOperator code) {
  using Op = BuiltinOperator;
  using Options = format::BuiltinOptions;
  static const std::map<Op, Options> shared = {
      {Op::AVERAGE_POOL_2D, Options::Pool2DOptions},
      {Op::MAX_POOL_2D, Options::Pool2DOptions},
      {Op::L2_POOL_2D, Options::Pool2DOptions},
      {Op::L2_NORMALIZATION, Options::L2NormOptions},
      {Op::MEAN, Options::ReducerOptions},
      {Op::SUM, Options::ReducerOptions},
      {Op::REDUCE_PROD, Options::ReducerOptions},
      {Op::REDUCE_MAX, Options::ReducerOptions},
      {Op::REDUCE_MIN, Options::ReducerOptions},
      {Op::REDUCE_ANY, Options::ReducerOptions},
      {Op::REDUCE_ALL, Options::ReducerOptions},
      {Op::MAXIMUM, Options::MaximumMinimumOptions},
      {Op::MINIMUM, Options::MaximumMinimumOptions},
      {Op::UNIDIRECTIONAL_SEQUENCE_RNN, Options::SequenceRNNOptions},
      {Op::CONV_3D_TRANSPOSE, Options::Conv3DOptions},
      {Op::RANDOM_UNIFORM, Options::RandomOptions},
      {Op::RANDOM_STANDARD_NORMAL, Options::RandomOptions},
      {Op::MULTINOMIAL, Options::RandomOptions},
  };
  const auto found = shared.find(code);
  if (found != shared.end()) return found->second;
  std::string name;
  for (const char c : std::string(format::EnumNameBuiltinOperator(code))) {
    if (c != '_') name.push_back(c);
  }
  for (const Options type : format::EnumValuesBuiltinOptions()) {
    if (upper_case(format::EnumNameBuiltinOptions(type)) == name + "OPTIONS") return type;
  }
  return Options::NONE;
}

// Reads options with the parser of FlatBuffers, which knows the fields from the schema.
class OptionsReader {
 public:
  OptionsReader() : parser_(strict()) {
    using Schema = format::ModelBinarySchema;
    if (!parser_.Deserialize(Schema::data(), Schema::size())) {
      throw std::runtime_error("the schema is not understood");
    }
  }

  format::BuiltinOptionsUnion read(format::BuiltinOptions type, const json& options) {
    const std::string name = format::EnumNameBuiltinOptions(type);
    if (!parser_.SetRootType(("ingot.tflite_format." + name).c_str()) ||
        !parser_.ParseJson(options.dump().c_str())) {
      throw std::runtime_error(fmt::format("{}: {}", name, parser_.error_));
    }
    format::BuiltinOptionsUnion any;
    any.type = type;
    any.value = format::BuiltinOptionsUnion::UnPack(
        flatbuffers::GetRoot<flatbuffers::Table>(parser_.builder_.GetBufferPointer()), type,
        nullptr);
    return any;
  }

 private:
  static flatbuffers::IDLOptions strict() {
    flatbuffers::IDLOptions options;
    options.strict_json = true;
    return options;
  }

  flatbuffers::Parser parser_;
};

OpcodeForm opcode_form(const std::string& name) {
  if (name == "both") return OpcodeForm::kBoth;
  if (name == "deprecated") return OpcodeForm::kDeprecatedOnly;
  if (name == "extended") return OpcodeForm::kExtendedOnly;
  throw std::runtime_error(fmt::format("opcode_form is \"{}\"", name));
}

template <class T>
std::vector<T> one_or_many(const json& value) {
  if (value.is_array()) return value.get<std::vector<T>>();
  return {value.get<T>()};
}

class Description {
 public:
  Description(const json& model, std::filesystem::path folder)
      : folder_(std::move(folder)), writer_(opcode_form(model.value("opcode_form", "both"))) {
    std::vector<std::string> keys = {"description", "version", "opcode_form", "metadata"};
    if (model.contains("subgraphs")) {
      keys.emplace_back("subgraphs");
    } else {
      keys.insert(keys.end(), {"name", "tensors", "operators", "inputs", "outputs"});
    }
    check_keys(model, keys, "the model");
    writer_.description(model.value("description", ""));
    writer_.model().version = model.value("version", 3U);
    const json graphs = model.contains("subgraphs") ? model.at("subgraphs") : json::array({model});
    for (size_t i = 0; i < graphs.size(); ++i) {
      if (i > 0) writer_.subgraph("");
      add_graph(graphs[i], model.contains("subgraphs"));
    }
    const json metadata = model.value("metadata", json::object());
    for (const auto& [name, value] : metadata.items()) {
      writer_.metadata(name, bytes_of(value));
    }
  }

  std::vector<uint8_t> file() const { return writer_.bytes(); }

 private:
  static Bytes bytes_of(const json& value) {
    if (value.is_string()) {
      const std::string text = value.get<std::string>();
      return Bytes({text.begin(), text.end()});
    }
    check_keys(value, {"base64"}, "a blob");
    return Bytes(decode_base64(value.at("base64")));
  }

  void add_graph(const json& graph, bool check) {
    if (check) check_keys(graph, {"name", "tensors", "operators", "inputs", "outputs"}, "a graph");
    writer_.graph().name = graph.value("name", "main");
    names_.clear();
    for (const json& tensor : graph.at("tensors")) add_tensor(tensor);
    for (const json& op : graph.at("operators")) add_operator(op);
    writer_.graph().inputs = narrow(indices(graph.at("inputs")));
    writer_.graph().outputs = narrow(indices(graph.at("outputs")));
  }

  void add_tensor(const json& tensor) {
    const std::string name = tensor.value("name", "");
    try {
      check_keys(tensor,
                 {"name", "dtype", "shape", "shape_signature", "scale", "zero_point", "axis",
                  "is_variable", "data"},
                 "the tensor");
      const auto shape = tensor.at("shape").get<std::vector<int64_t>>();
      format::TensorT stated;
      stated.name = name;
      stated.type = tensor_type(tensor.at("dtype"));
      stated.shape = narrow(shape);
      stated.has_rank = true;
      stated.shape_signature = tensor.value("shape_signature", std::vector<int32_t>());
      stated.is_variable = tensor.value("is_variable", false);
      if (tensor.contains("scale")) {
        Quantization quantization{one_or_many<float>(tensor.at("scale")), {}, -1};
        quantization.zero_points = tensor.contains("zero_point")
                                       ? one_or_many<int64_t>(tensor.at("zero_point"))
                                       : std::vector<int64_t>(quantization.scales.size(), 0);
        quantization.axis = tensor.value("axis", int64_t{0});
        stated.quantization = to_format(quantization);
      }
      const format::TensorType type = stated.type;
      const int64_t index = writer_.tensor(std::move(stated));
      if (!name.empty() && !names_.emplace(name, index).second) {
        throw std::runtime_error("there are two of that name");
      }
      if (tensor.contains("data")) {
        writer_.set_data(index, constant_data(tensor.at("data"), type, shape, folder_));
      }
    } catch (const std::exception& error) {
      throw std::runtime_error(fmt::format("tensor \"{}\": {}", name, error.what()));
    }
  }

  int64_t index(const json& tensor) const {
    if (tensor.is_number_integer()) return tensor.get<int64_t>();
    const auto found = names_.find(tensor.get<std::string>());
    if (found == names_.end()) {
      throw std::runtime_error(fmt::format("there is no tensor {}", tensor.dump()));
    }
    return found->second;
  }

  std::vector<int64_t> indices(const json& tensors) const {
    std::vector<int64_t> list;
    for (const json& tensor : tensors) list.push_back(index(tensor));
    return list;
  }

  void add_operator(const json& op) {
    try {
      check_keys(
          op, {"op", "inputs", "outputs", "version", "options", "options_type", "custom_options"},
          "the operator");
      const json& kind = op.at("op");
      BuiltinOperator code = BuiltinOperator::CUSTOM;
      if (kind.is_number_integer()) code = static_cast<BuiltinOperator>(kind.get<int32_t>());
      if (kind.is_string()) {
        code = find_enumerator(kind.get<std::string>(), format::EnumValuesBuiltinOperator(),
                               format::EnumNameBuiltinOperator);
      }
      const std::string custom = kind.is_object() ? kind.at("custom").get<std::string>() : "";
      const int64_t opcode = writer_.opcode(code, custom, op.value("version", int64_t{1}));
      format::OperatorT& added =
          writer_.append(opcode, indices(op.at("inputs")), indices(op.at("outputs")));
      add_options(op, code, added);
    } catch (const std::exception& error) {
      throw std::runtime_error(fmt::format("operator {} ({}): {}", op.value("op", json()).dump(),
                                           writer_.graph().operators.size(), error.what()));
    }
  }

  void add_options(const json& op, BuiltinOperator code, format::OperatorT& added) {
    format::BuiltinOptions type = options_of(code);
    if (op.contains("options_type")) {
      type = find_enumerator(op.at("options_type").get<std::string>(),
                             format::EnumValuesBuiltinOptions(), format::EnumNameBuiltinOptions);
    }
    const json options = op.value("options", json::object());
    if (!options.is_null() && type != format::BuiltinOptions::NONE) {
      added.builtin_options = options_reader_.read(type, options);
    } else if (options.is_object() && !options.empty()) {
      throw std::runtime_error("this operator has no options");
    }
    if (op.contains("custom_options")) {
      const Bytes bytes = bytes_of(op.at("custom_options"));
      added.custom_options.assign(bytes.view().begin(), bytes.view().end());
    }
  }

  std::filesystem::path folder_;
  TfliteWriter writer_;
  OptionsReader options_reader_;
  std::map<std::string, int64_t> names_;
};

}  // namespace

std::vector<uint8_t> tflite_from_json(const std::string& text,
                                      const std::filesystem::path& folder) {
  return Description(json::parse(text), folder).file();
}

}  // namespace ingot::testing
