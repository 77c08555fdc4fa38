// SPDX-License-Identifier: Apache-2.0
// Makes the graph, operator by operator in execution order. An OperatorReader is what the functions
// of the operator table see: the operator's options and tensors, and `emit`.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "import/tflite/attributes.h"
#include "import/tflite/tensors.h"

namespace ingot::tflite {

// What an operator that lists dimensions may list; far more than a rank can be.
constexpr int64_t kMostDimensions = 64;

class GraphBuilder {
 public:
  GraphBuilder(const Model& model, const std::vector<Tensor>& tensors, const ImportOptions& options,
               UniqueNames& names, Report& report);

  const Model& model() const { return model_; }
  const Tensor& tensor(int64_t index) const { return tensors_.at(static_cast<size_t>(index)); }
  Report& report() { return report_; }

  // The type of a tensor: inferred, where an operator has written it already, else the file's.
  const TensorType& type_of(int64_t tensor) const;
  // The value of a tensor, made if it is not there yet.
  ValueId value_of(int64_t tensor);
  // A value of its own, named for the tensor that it leads to.
  ValueId inner_value(int64_t tensor, const std::string& suffix, const TensorType& type);

  // Appends a node whose output has been made with the declared type, and gives its output the
  // inferred type. False if inference refuses it.
  bool append(const Operator& source, Op op, const std::vector<ValueId>& inputs, ValueId output,
              const std::string& name);
  // Compares the type of a tensor's value with what the file says about it.
  void compare_shapes(const Operator& source, int64_t tensor);

  // The tensors of an operator with their shapes, for diagnostics.
  std::vector<std::string> notes_of(const Operator& op) const;

  // The graph with the model's inputs and outputs.
  Graph take();

 private:
  // The inferred type of the output; nullopt after a diagnostic.
  std::optional<TensorType> infer(const Operator& source, const Op& op,
                                  const std::vector<ValueId>& inputs, const TensorType& declared);

  const Model& model_;
  const std::vector<Tensor>& tensors_;
  const ImportOptions& options_;
  UniqueNames& names_;
  Report& report_;
  Graph graph_;
  std::vector<ValueId> values_;  // by tensor
};

class OperatorReader {
 public:
  OperatorReader(GraphBuilder& builder, const Operator& op) : builder_(builder), op_(op) {}

  const Operator& op() const { return op_; }
  int64_t num_inputs() const { return static_cast<int64_t>(op_.inputs.size()); }
  int64_t num_outputs() const { return static_cast<int64_t>(op_.outputs.size()); }
  bool has_input(int64_t i) const {
    return i < num_inputs() && op_.inputs[static_cast<size_t>(i)] >= 0;
  }
  const TensorType& input_type(int64_t i) const {
    return builder_.type_of(op_.inputs.at(static_cast<size_t>(i)));
  }
  // As the file states it: dtype and quantisation are its last word, the shape is not.
  const TensorType& output_type() const { return builder_.tensor(op_.outputs.at(0)).type; }

  // Adds a diagnostic about this operator; always false.
  bool fail(Code code, std::string what, std::string hint = "");
  bool malformed(std::string what) { return fail(Code::kOperatorMalformed, std::move(what)); }

  // Whether input i has `rank` dimensions; a diagnostic if not.
  bool has_rank(int64_t i, int64_t rank, std::string_view what);
  // The elements of an input that must be a constant of integers; a diagnostic if it is not, or
  // has more than `most` elements.
  std::optional<std::vector<int64_t>> integers(int64_t i, std::string_view what, int64_t most);

  // The one element of an input that must be constant, as it is stored; a diagnostic if it is not.
  std::optional<double> element(int64_t i, std::string_view what);
  bool is_constant(int64_t i) const {
    return builder_.tensor(op_.inputs.at(static_cast<size_t>(i))).constant.has_value();
  }

  // The operator's options as the format's defaults have them if the file has none; nullopt and a
  // diagnostic if the options are those of another kind of operator.
  template <class Table>
  std::optional<typename Table::NativeTableType> options() {
    typename Table::NativeTableType options;
    if (has_options()) {
      if (op_.table->builtin_options_type() != format::BuiltinOptionsTraits<Table>::enum_value) {
        refuse_options();
        return std::nullopt;
      }
      const auto* table = static_cast<const Table*>(op_.table->builtin_options());
      if (!lists_are_short(*table)) return std::nullopt;
      table->UnPackTo(&options);
    }
    return options;
  }

  // `op` of the inputs at `positions`, then the activation, yields the operator's output.
  bool emit(Op op, const std::vector<int64_t>& positions,
            format::Activation activation = format::Activation::NONE);
  // The same with another operator behind the first, through a value of the output's type.
  bool emit_chain(Op first, const std::vector<int64_t>& positions, Op second);
  // One of several outputs: a part of input `x`, in another shape if that is given.
  bool emit_part(int64_t output, int64_t x, Slice part,
                 std::optional<Reshape> shaped = std::nullopt);

 private:
  bool has_options() const {
    return op_.table->builtin_options() &&
           op_.table->builtin_options_type() != format::BuiltinOptions::NONE;
  }
  void refuse_options();
  // Lists are copied, and a file's operators can share one that is as long as the file.
  template <class Table>
  bool lists_are_short(const Table& table) {
    int64_t length = 0;
    if constexpr (requires { table.new_shape(); }) length = size_of(table.new_shape());
    if constexpr (requires { table.squeeze_dims(); }) length = size_of(table.squeeze_dims());
    return length <= kMostDimensions ||
           malformed("its options list " + std::to_string(length) + " dimensions");
  }
  std::vector<ValueId> values(const std::vector<int64_t>& positions);
  bool emit_to(int64_t output, Op op, const std::vector<ValueId>& inputs);
  // Through `inner`.
  bool emit_chain_to(int64_t output, Op first, const std::vector<ValueId>& inputs, ValueId inner,
                     Op second);

  GraphBuilder& builder_;
  const Operator& op_;
};

}  // namespace ingot::tflite
