// SPDX-License-Identifier: Apache-2.0
#include "import/tflite/model.h"

#include <fmt/format.h>

#include <algorithm>

#include "support/file.h"

namespace ingot::tflite {
namespace {

constexpr std::string_view kIdentifier = "TFL3";
// Tables are visited once for each reference to them, so their number bounds the verifier's time.
constexpr flatbuffers::uoffset_t kMostTables = 6000000;
constexpr flatbuffers::uoffset_t kDeepestTable = 64;

std::string_view text_at(std::span<const uint8_t> bytes, size_t offset) {
  if (bytes.size() < offset + kIdentifier.size()) return {};
  return {reinterpret_cast<const char*>(bytes.data()) + offset, kIdentifier.size()};
}

bool check_container(std::span<const uint8_t> bytes, Report& report) {
  if (static_cast<int64_t>(bytes.size()) > kLargestFileBytes) {
    report.error(Code::kFileTooLarge, "", "the model is larger than 160 MiB");
    return false;
  }
  if (bytes.size() < 8) {
    report.error(Code::kModelUnreadable, "",
                 fmt::format("{} bytes are too few for a .tflite model", bytes.size()));
    return false;
  }
  const std::string_view identifier = text_at(bytes, 4);
  if (identifier == kIdentifier) return true;
  if (text_at(bytes, 8) == kIdentifier) {
    report.error(Code::kModelVersion, "", "the file begins with a size prefix",
                 "remove its first four bytes");
  } else if (identifier.starts_with("TFL")) {
    report.error(
        Code::kModelVersion, "",
        fmt::format("the file is of format {}, only \"TFL3\" is supported", quote(identifier)),
        "convert the model again with a current converter");
  } else {
    report.error(Code::kModelUnreadable, "", "the file is not a .tflite model");
  }
  return false;
}

class Reader {
 public:
  Reader(Model& model, const ImportLimits& limits, Report& report)
      : model_(model), limits_(limits), report_(report) {}

  void read() {
    const auto* subgraphs = model_.table->subgraphs();
    if (size_of(subgraphs) == 0) {
      report_.error(Code::kModelUnreadable, "", "the model has no subgraph");
      return;
    }
    if (size_of(subgraphs) > 1) {
      report_.warning(Severity::kNote, Code::kSubgraphIgnored, "",
                      fmt::format("of {} subgraphs only the first is compiled", subgraphs->size()));
    }
    const format::SubGraph* graph = subgraphs->Get(0);
    if (!check_counts(*graph)) return;
    if (graph->tensors()) {
      for (const format::Tensor* tensor : *graph->tensors()) model_.tensors.push_back(tensor);
    }
    check_buffers();
    model_.inputs = tensors(graph->inputs(), 0, "the model", "input");
    model_.outputs = tensors(graph->outputs(), 0, "the model", "output");
    if (model_.outputs.empty() && !report_.has_errors()) {
      report_.error(Code::kModelGraph, "", "the model has no outputs");
    }
    read_operators(*graph);
  }

 private:
  bool check(int64_t count, int64_t limit, std::string_view what) {
    if (count <= limit) return true;
    report_.error(Code::kModelLimit, "",
                  fmt::format("the model has {} {}, at most {} are supported", count, what, limit));
    return false;
  }

  bool check_counts(const format::SubGraph& graph) {
    const int64_t num_ports = size_of(graph.inputs()) + size_of(graph.outputs());
    if (!check(size_of(graph.operators()), limits_.operators, "operators") ||
        !check(size_of(graph.tensors()), limits_.tensors, "tensors") ||
        !check(size_of(model_.table->buffers()), limits_.buffers, "buffers") ||
        !check(num_ports, limits_.ports, "inputs and outputs")) {
      return false;
    }
    return !graph.operators() || check_operands(*graph.operators(), num_ports);
  }

  bool check_operands(const flatbuffers::Vector<flatbuffers::Offset<format::Operator>>& operators,
                      int64_t num_indices) {
    for (flatbuffers::uoffset_t i = 0; i < operators.size(); ++i) {
      const format::Operator& op = *operators.Get(i);
      const int64_t num_operands = size_of(op.inputs()) + size_of(op.outputs());
      if (num_operands > limits_.operands) {
        report_.error(Code::kModelLimit, fmt::format("operator {}", i),
                      fmt::format("it has {} inputs and outputs, at most {} are supported",
                                  num_operands, limits_.operands));
        return false;
      }
      num_indices += num_operands;
    }
    return check(num_indices, limits_.indices, "inputs and outputs of operators");
  }

  // Buffer 0 stands for no data, also in a model without buffers.
  void check_buffers() {
    const int64_t num_buffers = size_of(model_.table->buffers());
    for (size_t i = 0; i < model_.tensors.size(); ++i) {
      const uint32_t buffer = model_.tensors[i]->buffer();
      if (buffer == 0 || buffer < num_buffers) continue;
      report_.error(
          Code::kModelIndex, model_.describe_tensor(static_cast<int64_t>(i)),
          fmt::format("its data are in buffer {}, the model has {}", buffer, num_buffers));
    }
  }

  // Indices of tensors, of which `lowest` is the least allowed.
  std::vector<int64_t> tensors(const flatbuffers::Vector<int32_t>* indices, int64_t lowest,
                               const std::string& where, std::string_view what) {
    std::vector<int64_t> list;
    if (!indices) return list;
    list.reserve(indices->size());
    const auto num_tensors = static_cast<int64_t>(model_.tensors.size());
    for (const int32_t index : *indices) {
      if (index < lowest || index >= num_tensors) {
        report_.error(Code::kModelIndex, where,
                      fmt::format("{} {} is tensor {}, the model has {}", what, list.size(), index,
                                  num_tensors));
      }
      list.push_back(index);
    }
    return list;
  }

  void read_operators(const format::SubGraph& graph) {
    if (!graph.operators()) return;
    const auto* codes = model_.table->operator_codes();
    model_.operators.reserve(graph.operators()->size());
    for (const format::Operator* table : *graph.operators()) {
      Operator op;
      op.index = static_cast<int64_t>(model_.operators.size());
      op.table = table;
      std::string where = fmt::format("operator {}", op.index);
      if (table->opcode_index() >= size_of(codes)) {
        report_.error(Code::kModelIndex, where,
                      fmt::format("its kind is operator code {}, the model has {}",
                                  table->opcode_index(), size_of(codes)));
      } else {
        // The old field is a byte; operators from 127 on have 127 there, old files nothing in the
        // new one.
        const format::OperatorCode* code = codes->Get(table->opcode_index());
        op.code = std::max(static_cast<format::BuiltinOperator>(code->deprecated_builtin_code()),
                           code->builtin_code());
        if (code->custom_code()) op.custom_code = code->custom_code()->string_view();
        where = fmt::format("{} ({})", Model::kind_of(op), where);
      }
      op.inputs = tensors(table->inputs(), -1, where, "input");
      op.outputs = tensors(table->outputs(), 0, where, "output");
      model_.operators.push_back(std::move(op));
    }
  }

  Model& model_;
  const ImportLimits& limits_;
  Report& report_;
};

}  // namespace

std::string_view Model::name_of(int64_t tensor) const {
  const flatbuffers::String* name = tensors.at(static_cast<size_t>(tensor))->name();
  return name ? name->string_view() : std::string_view();
}

std::string Model::kind_of(const Operator& op) {
  const std::string name = format::EnumNameBuiltinOperator(op.code);
  if (op.code == format::BuiltinOperator::CUSTOM) return name + " " + quote(op.custom_code);
  if (name.empty()) return fmt::format("operator code {}", static_cast<int64_t>(op.code));
  return name;
}

std::string Model::describe(const Operator& op) const {
  const std::string name = op.outputs.empty() ? "" : " " + quote(name_of(op.outputs[0]));
  return fmt::format("{}{} (operator {})", kind_of(op), name, op.index);
}

std::string Model::describe_tensor(int64_t tensor) const {
  return fmt::format("tensor {} (index {})", quote(name_of(tensor)), tensor);
}

Model read_model(std::span<const uint8_t> bytes, const ImportLimits& limits, Report& report) {
  Model model;
  model.bytes = bytes;
  if (!check_container(bytes, report)) return model;
  flatbuffers::Verifier verifier(bytes.data(), bytes.size(), kDeepestTable, kMostTables);
  if (!format::VerifyModelBuffer(verifier)) {
    report.error(Code::kModelUnreadable, "",
                 "the file is damaged: it does not hold what its tables point to");
    return model;
  }
  model.table = format::GetModel(bytes.data());
  if (model.table->version() != 3) {
    report.error(
        Code::kModelVersion, "",
        fmt::format("the model is of version {}, only 3 is supported", model.table->version()),
        "convert the model again with a current converter");
    return model;
  }
  Reader(model, limits, report).read();
  return model;
}

}  // namespace ingot::tflite
