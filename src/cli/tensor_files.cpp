// SPDX-License-Identifier: Apache-2.0
#include "cli/tensor_files.h"

#include <fmt/format.h>

#include "cli/diagnostics_text.h"
#include "report/json_text.h"
#include "report/npy.h"
#include "support/file.h"

namespace ingot::cli {
namespace {

Diagnostic array_fault(const std::string& file, std::string what, std::string hint = "") {
  return {Code::kArrayFile, quote(file), std::move(what), std::move(hint)};
}

Result<TensorBytes> read_tensor(const Value& value, const std::string& file) {
  Result<std::vector<uint8_t>> bytes = read_file(file);
  if (!bytes) return bytes.error();
  if (is_npy(*bytes)) {
    Result<Array> array = read_npy(*bytes);
    if (!array) {
      Diagnostic fault = array.error().front();
      fault.where = quote(file);
      return fault;
    }
    if (array->dtype != value.type.dtype || array->shape != value.type.shape) {
      return array_fault(
          file,
          fmt::format("the array is {}{}, the tensor {} is {}", name_of(array->dtype),
                      print(array->shape), quote(value.name), print_plain(value.type)),
          "convert it with array.astype(...).reshape(...)");
    }
    return (*std::move(array)).bytes;
  }
  if (static_cast<int64_t>(bytes->size()) != value.type.size_bytes()) {
    return array_fault(
        file, fmt::format("the file has {} bytes, the tensor {}, {}, has {}", bytes->size(),
                          quote(value.name), print_plain(value.type), value.type.size_bytes()));
  }
  return *std::move(bytes);
}

Diagnostic vector_fault(const std::filesystem::path& folder, std::string what) {
  return {Code::kVectors, quote(folder.string()), std::move(what), ""};
}

// What desc.json says of the tensors of one side must fit the model's.
Diagnostics check_tensors(const Graph& graph, const std::vector<ValueId>& ids, const Json& list,
                          std::string_view side, const std::filesystem::path& folder) {
  if (!list.is_array() || list.size() != ids.size()) {
    return {vector_fault(folder, fmt::format("desc.json lists {} {}, the model has {}",
                                             list.is_array() ? list.size() : 0, side, ids.size()))};
  }
  Diagnostics faults;
  for (size_t i = 0; i < ids.size(); ++i) {
    const TensorType& type = graph[ids[i]].type;
    const bool fits = list[i].is_object() &&
                      list[i].value("type", Json()) == Json(name_of(type.dtype)) &&
                      list[i].value("shape", Json()) == Json(type.shape);
    if (fits) continue;
    faults.push_back(
        vector_fault(folder, fmt::format("{} {} of desc.json does not fit tensor {}, {}", side, i,
                                         quote(graph[ids[i]].name), print_plain(type))));
  }
  return faults;
}

Result<toolchain::Tensors> read_tensors(const Graph& graph, const std::vector<ValueId>& ids,
                                        const std::filesystem::path& folder,
                                        const std::string& vector, std::string_view suffix) {
  toolchain::Tensors tensors;
  for (size_t i = 0; i < ids.size(); ++i) {
    const std::filesystem::path file = folder / fmt::format("{}.{}{}.bin", vector, suffix, i);
    Result<TensorBytes> tensor = read_tensor(graph[ids[i]], file.string());
    if (!tensor) return tensor.error();
    tensors.push_back(*std::move(tensor));
  }
  return tensors;
}

}  // namespace

Result<std::vector<TensorBytes>> read_inputs(const Graph& graph,
                                             const std::vector<std::string>& files) {
  if (files.size() != graph.inputs.size()) {
    Diagnostic fault{Code::kUsage, "",
                     fmt::format("the model has {}, but --input is given {} times",
                                 counted(std::ssize(graph.inputs), "input"), files.size()),
                     "give --input FILE for each, in this order"};
    for (const ValueId id : graph.inputs) {
      fault.notes.push_back(quote(graph[id].name) + ": " + print(graph[id].type));
    }
    return fault;
  }
  std::vector<TensorBytes> inputs;
  Diagnostics faults;
  for (size_t i = 0; i < files.size(); ++i) {
    Result<TensorBytes> tensor = read_tensor(graph[graph.inputs[i]], files[i]);
    if (tensor) {
      inputs.push_back(*std::move(tensor));
    } else {
      faults.insert(faults.end(), tensor.error().begin(), tensor.error().end());
    }
  }
  if (!faults.empty()) return faults;
  return inputs;
}

Result<std::vector<toolchain::GoldenVector>> read_vectors(const Graph& graph,
                                                          const std::filesystem::path& folder) {
  const Result<std::vector<uint8_t>> text = read_file(folder / "desc.json");
  if (!text) return text.error();
  const Json desc = Json::parse(*text, nullptr, false);
  if (!desc.is_object()) return vector_fault(folder, "desc.json is not a JSON object");
  const Diagnostics inputs =
      check_tensors(graph, graph.inputs, desc.value("inputs", Json()), "inputs", folder);
  if (!inputs.empty()) return inputs;
  const Diagnostics outputs =
      check_tensors(graph, graph.outputs, desc.value("outputs", Json()), "outputs", folder);
  if (!outputs.empty()) return outputs;
  const Json names = desc.value("vectors", Json());
  if (!names.is_array() || names.empty()) return vector_fault(folder, "desc.json has no vectors");
  std::vector<toolchain::GoldenVector> vectors;
  for (const Json& name : names) {
    const std::string vector = name.is_string() ? name.get<std::string>() : name.dump();
    Result<toolchain::Tensors> in = read_tensors(graph, graph.inputs, folder, vector, "in");
    if (!in) return in.error();
    Result<toolchain::Tensors> out = read_tensors(graph, graph.outputs, folder, vector, "out");
    if (!out) return out.error();
    vectors.push_back({*std::move(in), *std::move(out)});
  }
  return vectors;
}

}  // namespace ingot::cli
