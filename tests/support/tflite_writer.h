// SPDX-License-Identifier: Apache-2.0
// Builds .tflite files for tests: tensors, operators, graph inputs and outputs, in the order in
// which they are stated. The functions named after operators work out the type of their result,
// name it, and return its index, so that a network reads as a list of its layers:
//
//   TfliteWriter w;
//   const int64_t x = w.input("x", {DType::kInt8, {1, 4}, per_tensor(0.5F, 3)});
//   const int64_t w1 = w.constant("w1", {DType::kInt8, {2, 4}, per_tensor(0.1F, 0)}, weights);
//   w.output(w.fully_connected("y", x, w1, kAbsent, per_tensor(0.25F, -7)));
//   const std::vector<uint8_t> file = w.bytes();
//
// Nothing checks that the model makes sense, since tests need senseless ones too: model() gives
// access to every field of the format, and tflite_damage.h breaks finished files.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tensor/bytes.h"
#include "tensor/type.h"
#include "tflite_generated.h"

namespace ingot::testing {

namespace format = tflite_format;
using format::Activation;
using format::BuiltinOperator;
using format::Padding;

// The index that stands for an input left out.
constexpr int64_t kAbsent = -1;

// Which fields of an operator code are filled. Converters fill both (codes from 127 on: 127 in the
// old one); old files have only the deprecated one; kExtendedOnly leaves 0 in the old one.
enum class OpcodeForm { kBoth, kDeprecatedOnly, kExtendedOnly };

// How a filter moves over the input of a convolution.
struct Window {
  int64_t stride_h = 1;
  int64_t stride_w = 1;
  int64_t dilation_h = 1;
  int64_t dilation_w = 1;
  Padding padding = Padding::SAME;
  Activation activation = Activation::NONE;
};

struct Pool {
  int64_t filter_h = 1;
  int64_t filter_w = 1;
  int64_t stride_h = 1;
  int64_t stride_w = 1;
  Padding padding = Padding::VALID;
  Activation activation = Activation::NONE;
};

// Absent: the result has the quantisation of the first input.
using MaybeQuantization = std::optional<Quantization>;

class TfliteWriter {
 public:
  // A model of version 3 with one subgraph, "main", and the empty buffer 0.
  explicit TfliteWriter(OpcodeForm form = OpcodeForm::kBoth);

  // ---- Tensors. Each function returns the index of the new tensor in the current subgraph. ----

  int64_t tensor(std::string name, const TensorType& type);
  // Any tensor of the format, e.g. of an element type that TensorType has no word for.
  int64_t tensor(format::TensorT tensor);
  // A tensor with data, which are taken as they are, however many bytes the type asks for.
  int64_t constant(std::string name, const TensorType& type, const Bytes& data);
  template <class T>
  int64_t constant(std::string name, const TensorType& type, const std::vector<T>& data) {
    return constant(std::move(name), type, Bytes::of(data));
  }
  // A tensor that is an input of the subgraph. The signature has -1 for open extents.
  int64_t input(std::string name, const TensorType& type, const Shape& shape_signature = {});
  // Gives a tensor data of its own, in a new buffer whose index is returned.
  int64_t set_data(int64_t tensor, const Bytes& data);
  // Makes a tensor the next output of the subgraph; returns it.
  int64_t output(int64_t tensor);
  // What was stated, read back. The element type must be one that TensorType knows.
  TensorType type_of(int64_t tensor) const;

  // ---- Operators in general ----

  // Options: one of the tables of format::BuiltinOptions, as format::Conv2DOptionsT{...}.
  template <class Options>
  void op(BuiltinOperator code, const std::vector<int64_t>& inputs,
          const std::vector<int64_t>& outputs, Options options, int64_t version = 1) {
    format::BuiltinOptionsUnion any;
    any.Set(std::move(options));
    append(opcode(code, "", version), inputs, outputs).builtin_options = std::move(any);
  }
  void op(BuiltinOperator code, const std::vector<int64_t>& inputs,
          const std::vector<int64_t>& outputs) {
    append(opcode(code, "", 1), inputs, outputs);
  }
  void custom(const std::string& name, const std::vector<int64_t>& inputs,
              const std::vector<int64_t>& outputs, const std::vector<uint8_t>& options = {});
  // The index of an operator code, added if the model does not have it yet.
  int64_t opcode(BuiltinOperator code, const std::string& custom_code, int64_t version);
  // The operator of that code; for those that need more than `op` offers.
  format::OperatorT& append(int64_t opcode_index, const std::vector<int64_t>& inputs,
                            const std::vector<int64_t>& outputs);

  // ---- Operators by name. `name` is the name of the result, whose index is returned. ----

  // x: NHWC; filter: OHWI, with I = C / groups; bias: int32[O] or kAbsent.
  int64_t conv_2d(const std::string& name, int64_t x, int64_t filter, int64_t bias,
                  const Window& window, const MaybeQuantization& result);
  // filter: 1HWO, with O = C * multiplier; bias: int32[O] or kAbsent.
  int64_t depthwise_conv_2d(const std::string& name, int64_t x, int64_t filter, int64_t bias,
                            const Window& window, const MaybeQuantization& result);
  // filter: OI. x is read as [elements / I, I]; keep_num_dims keeps all its dimensions but the
  // last one.
  int64_t fully_connected(const std::string& name, int64_t x, int64_t filter, int64_t bias,
                          const MaybeQuantization& result, Activation activation = Activation::NONE,
                          bool keep_num_dims = false);
  int64_t average_pool_2d(const std::string& name, int64_t x, const Pool& pool);
  int64_t max_pool_2d(const std::string& name, int64_t x, const Pool& pool);
  // The extents of a and b are counted from the last one; 1 stretches.
  int64_t add(const std::string& name, int64_t a, int64_t b, const MaybeQuantization& result,
              Activation activation = Activation::NONE);
  int64_t sub(const std::string& name, int64_t a, int64_t b, const MaybeQuantization& result,
              Activation activation = Activation::NONE);
  int64_t mul(const std::string& name, int64_t a, int64_t b, const MaybeQuantization& result,
              Activation activation = Activation::NONE);
  // One pair (before, after) for each dimension.
  int64_t pad(const std::string& name, int64_t x,
              const std::vector<std::pair<int64_t, int64_t>>& paddings);
  // The axes may be negative, counted from the end.
  int64_t mean(const std::string& name, int64_t x, const std::vector<int64_t>& axes, bool keep_dims,
               const MaybeQuantization& result);
  // The new shape may hold one -1. It is written as an option and as a second input.
  int64_t reshape(const std::string& name, int64_t x, const Shape& new_shape);
  // No dimensions: all of extent 1.
  int64_t squeeze(const std::string& name, int64_t x, const std::vector<int64_t>& dimensions);
  int64_t expand_dims(const std::string& name, int64_t x, int64_t axis);
  int64_t concatenation(const std::string& name, const std::vector<int64_t>& inputs, int64_t axis,
                        const MaybeQuantization& result = std::nullopt);
  // A size of -1: all that is left.
  int64_t slice(const std::string& name, int64_t x, const std::vector<int64_t>& begin,
                const std::vector<int64_t>& size);
  // `shape` is that of the result; `options` has the masks.
  int64_t strided_slice(const std::string& name, int64_t x, const std::vector<int64_t>& begin,
                        const std::vector<int64_t>& end, const std::vector<int64_t>& strides,
                        const Shape& shape, const format::StridedSliceOptionsT& options = {});
  // Parts are called name/0, name/1 ... Sizes: one per part (SPLIT_V), or none for `parts` equal
  // ones (SPLIT).
  std::vector<int64_t> split(const std::string& name, int64_t x, int64_t axis, int64_t parts,
                             const std::vector<int64_t>& sizes = {});
  std::vector<int64_t> unpack(const std::string& name, int64_t x, int64_t axis);
  int64_t transpose(const std::string& name, int64_t x, const std::vector<int64_t>& permutation);
  int64_t resize_nearest_neighbor(const std::string& name, int64_t x, int64_t height, int64_t width,
                                  bool align_corners = false, bool half_pixel_centers = false);
  // The results of these three have the quantisation the format prescribes for their type.
  int64_t softmax(const std::string& name, int64_t x, float beta = 1.0F);
  int64_t logistic(const std::string& name, int64_t x);
  int64_t tanh(const std::string& name, int64_t x);
  int64_t relu(const std::string& name, int64_t x, const MaybeQuantization& result);
  int64_t relu6(const std::string& name, int64_t x, const MaybeQuantization& result);
  int64_t relu_n1_to_1(const std::string& name, int64_t x, const MaybeQuantization& result);
  // To `dtype` with `result`, from float or (requantisation) from integers.
  int64_t quantize(const std::string& name, int64_t x, DType dtype, const Quantization& result);
  int64_t dequantize(const std::string& name, int64_t x);

  // ---- The rest of the model ----

  // Begins another subgraph: what follows goes there. Returns its index.
  int64_t subgraph(std::string name);
  void metadata(std::string name, const Bytes& data);
  void description(std::string text) { model_.description = std::move(text); }

  // Every field there is, to state or break what the functions above do not. Indices that were
  // returned stay valid as long as the caller keeps the order of the vectors.
  format::ModelT& model() { return model_; }
  format::SubGraphT& graph() { return *model_.subgraphs.back(); }
  format::TensorT& tensor_at(int64_t index) {
    return *graph().tensors.at(static_cast<size_t>(index));
  }
  format::OperatorT& last_operator() { return *graph().operators.back(); }

  std::vector<uint8_t> bytes() const;

 private:
  int64_t result(const std::string& name, int64_t input, const Shape& shape,
                 const MaybeQuantization& quantization);
  int64_t activated(BuiltinOperator code, const std::string& name, int64_t x,
                    const MaybeQuantization& result);
  int64_t pooled(BuiltinOperator code, const std::string& name, int64_t x, const Pool& pool);
  int64_t squashed(const std::string& name, int64_t x, float least, float greatest);
  int64_t indices(const std::string& name, const Shape& shape, const std::vector<int64_t>& values);

  OpcodeForm form_;
  format::ModelT model_;
};

// A model as a file, and back. The file must be one that the verifier accepts.
std::vector<uint8_t> serialize(const format::ModelT& model);
std::unique_ptr<format::ModelT> unpack(const std::vector<uint8_t>& file);
bool verifies(const std::vector<uint8_t>& file);

format::TensorType to_format(DType dtype);
std::optional<DType> to_dtype(format::TensorType type);
std::unique_ptr<format::QuantizationParametersT> to_format(const Quantization& quantization);
std::vector<int32_t> narrow(const std::vector<int64_t>& numbers);

}  // namespace ingot::testing
