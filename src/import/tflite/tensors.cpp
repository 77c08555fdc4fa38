// SPDX-License-Identifier: Apache-2.0
#include "import/tflite/tensors.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <set>

#include "support/arithmetic.h"

namespace ingot::tflite {
namespace {

std::optional<DType> dtype_of(format::TensorType type) {
  switch (type) {
    case format::TensorType::BOOL:
      return DType::kBool;
    case format::TensorType::INT8:
      return DType::kInt8;
    case format::TensorType::UINT8:
      return DType::kUInt8;
    case format::TensorType::INT16:
      return DType::kInt16;
    case format::TensorType::UINT16:
      return DType::kUInt16;
    case format::TensorType::INT32:
      return DType::kInt32;
    case format::TensorType::UINT32:
      return DType::kUInt32;
    case format::TensorType::INT64:
      return DType::kInt64;
    case format::TensorType::UINT64:
      return DType::kUInt64;
    case format::TensorType::FLOAT16:
      return DType::kFloat16;
    case format::TensorType::FLOAT32:
      return DType::kFloat32;
    case format::TensorType::FLOAT64:
      return DType::kFloat64;
    default:
      return std::nullopt;
  }
}

std::string spelling_of(format::TensorType type) {
  const std::string name = format::EnumNameTensorType(type);
  return name.empty() ? fmt::format("number {}", static_cast<int64_t>(type)) : name;
}

// The elements of a vector whose alignment FlatBuffers' verifier does not vouch for.
template <class T>
std::vector<T> copied(const flatbuffers::Vector<T>* vector) {
  std::vector<T> elements(vector ? vector->size() : 0);
  if (!elements.empty()) {
    std::memcpy(elements.data(), vector->Data(), elements.size() * sizeof(T));
  }
  return elements;
}

class Reader {
 public:
  Reader(const Model& model, const ImportOptions& options, UniqueNames& names, Report& report)
      : model_(model), options_(options), names_(names), report_(report) {
    const int64_t num_buffers = size_of(model.table->buffers());
    buffers_.resize(static_cast<size_t>(num_buffers));
    for (const auto& [key, extent] : options.dims) unused_dims_.insert(key);
  }

  std::vector<Tensor> read() {
    std::vector<Tensor> tensors(model_.tensors.size());
    const std::vector<bool> is_used = find_used();
    std::vector<bool> is_input(tensors.size());
    for (const int64_t input : model_.inputs) is_input[static_cast<size_t>(input)] = true;
    for (size_t i = 0; i < tensors.size(); ++i) {
      if (!is_used[i]) continue;
      Tensor& tensor = tensors[i];
      const auto index = static_cast<int64_t>(i);
      const int64_t errors_before = report_.num_errors();
      where_ = model_.describe_tensor(index);
      tensor.name = names_.unique(model_.name_of(index), fmt::format("tensor_{}", i));
      read_type(*model_.tensors[i], tensor, is_input[i]);
      if (report_.num_errors() == errors_before) read_constant(*model_.tensors[i], tensor);
      tensor.usable = report_.num_errors() == errors_before;
    }
    for (const std::string& key : unused_dims_) {
      report_.error(Code::kDimUnknown, "",
                    fmt::format("--dim {} names no open extent of an input", quote(key)),
                    "the form is TENSOR:DIMENSION=EXTENT, with dimensions counted from 0");
    }
    if (!report_.has_errors()) check_reads(tensors);
    return tensors;
  }

 private:
  std::vector<bool> find_used() const {
    std::vector<bool> is_used(model_.tensors.size());
    const auto use = [&](const std::vector<int64_t>& tensors) {
      for (const int64_t tensor : tensors) {
        if (tensor >= 0) is_used[static_cast<size_t>(tensor)] = true;
      }
    };
    use(model_.inputs);
    use(model_.outputs);
    for (const Operator& op : model_.operators) {
      use(op.inputs);
      use(op.outputs);
    }
    return is_used;
  }

  // Folding constants and preparing multipliers takes time and memory for each operator that reads
  // a constant or its scales.
  void check_reads(const std::vector<Tensor>& tensors) {
    int64_t num_bytes = 0;
    int64_t num_scales = 0;
    for (const Operator& op : model_.operators) {
      for (const int64_t input : op.inputs) {
        if (input < 0) continue;
        const Tensor& tensor = tensors[static_cast<size_t>(input)];
        if (tensor.constant) num_bytes += tensor.constant->size();
        if (!tensor.type.quantization) continue;
        if (!tensor.type.quantization->per_tensor()) {
          num_scales += std::ssize(tensor.type.quantization->scales);
        }
      }
    }
    if (num_bytes > options_.limits.constant_bytes_read) {
      report_.error(Code::kModelLimit, "",
                    fmt::format("operators read {} bytes of constants, at most {} are supported",
                                num_bytes, options_.limits.constant_bytes_read));
    }
    if (num_scales > options_.limits.scales) {
      report_.error(Code::kModelLimit, "",
                    fmt::format("operators read {} scales, at most {} are supported", num_scales,
                                options_.limits.scales));
    }
  }

  void error(Code code, std::string what, std::string hint = "") {
    report_.error(code, where_, std::move(what), std::move(hint));
  }

  void read_type(const format::Tensor& table, Tensor& tensor, bool is_input) {
    const std::optional<DType> dtype = dtype_of(table.type());
    if (!dtype) {
      error(Code::kTensorUnsupported,
            fmt::format("elements of type {} are not supported", spelling_of(table.type())));
    }
    if (table.sparsity()) {
      error(Code::kTensorUnsupported, "sparse tensors are not supported",
            "export the model without sparsity");
    }
    if (table.is_variable()) {
      error(Code::kTensorUnsupported,
            "variables (tensors that keep their value between runs) are not supported");
    }
    if (table.external_buffer() != 0) {
      error(Code::kTensorUnsupported, "data in a file of their own are not supported");
    }
    tensor.type.dtype = dtype.value_or(DType::kInt8);
    if (!read_shape(table, tensor, is_input) || !dtype) return;
    const std::string excess = find_excess(tensor.type.shape, *dtype, options_.limits);
    if (!excess.empty()) {
      error(Code::kModelLimit, excess);
    } else {
      read_quantization(table.quantization(), tensor.type);
    }
  }

  bool read_shape(const format::Tensor& table, Tensor& tensor, bool is_input) {
    const int64_t rank = size_of(table.shape());
    const int64_t signature_rank = size_of(table.shape_signature());
    tensor.has_shape = rank > 0 || table.has_rank();
    if (rank > options_.limits.rank) {
      error(Code::kModelLimit,
            fmt::format("the rank is {}, at most {} is supported", rank, options_.limits.rank));
      return false;
    }
    if (signature_rank > 0 && signature_rank != rank) {
      error(Code::kTensorMalformed,
            fmt::format("the shape has rank {}, its signature has rank {}", rank, signature_rank));
      return false;
    }
    for (int64_t i = 0; i < rank; ++i) {
      const auto place = static_cast<flatbuffers::uoffset_t>(i);
      int64_t extent = table.shape()->Get(place);
      const bool is_open =
          extent == -1 || (signature_rank > 0 && table.shape_signature()->Get(place) == -1);
      if (is_open) extent = is_input ? open_extent(tensor.name, i) : 1;
      if (extent < 0) {
        error(Code::kTensorMalformed, fmt::format("extent {} is {}", i, extent));
        return false;
      }
      tensor.type.shape.push_back(extent);
      tensor.is_open.push_back(is_open);
    }
    return true;
  }

  int64_t open_extent(const std::string& name, int64_t dimension) {
    const std::string key = fmt::format("{}:{}", name, dimension);
    const auto stated = options_.dims.find(key);
    if (stated == options_.dims.end()) {
      report_.warning(Severity::kNote, Code::kExtentOpen, where_,
                      fmt::format("extent {} is open in the model and taken as 1", dimension),
                      fmt::format("--dim {}=N states another", quote(key)));
      return 1;
    }
    unused_dims_.erase(key);
    if (stated->second >= 1) return stated->second;
    error(Code::kDimUnknown,
          fmt::format("--dim {}={}: an extent is at least 1", quote(key), stated->second));
    return 1;
  }

  void read_quantization(const format::QuantizationParameters* table, TensorType& type) {
    if (!table) return;
    if (table->details_type() != format::QuantizationDetails::NONE) {
      error(Code::kTensorUnsupported,
            fmt::format("the quantisation {} is not supported",
                        quote(format::EnumNameQuantizationDetails(table->details_type()))));
      return;
    }
    const int64_t num_scales = size_of(table->scale());
    // Converters leave the ranges they observed in float tensors.
    if (num_scales == 0 || is_float(type.dtype) || type.dtype == DType::kBool) return;
    if (!check_scale_counts(*table, type)) return;
    Quantization quantization;
    quantization.scales = copied(table->scale());
    quantization.zero_points = copied(table->zero_point());
    if (num_scales > 1) quantization.axis = table->quantized_dimension();
    for (const float scale : quantization.scales) {
      if (std::isfinite(scale) && scale > 0) continue;
      error(Code::kQuantizationMalformed,
            fmt::format("the scale {} is not finite and above 0", scale));
      return;
    }
    for (const int64_t zero_point : quantization.zero_points) {
      if (zero_point >= lowest(type.dtype) && zero_point <= highest(type.dtype)) continue;
      error(Code::kQuantizationMalformed, fmt::format("the zero point {} is not in the range of {}",
                                                      zero_point, name_of(type.dtype)));
      return;
    }
    type.quantization = std::move(quantization);
  }

  bool check_scale_counts(const format::QuantizationParameters& table, const TensorType& type) {
    const int64_t num_scales = size_of(table.scale());
    const int64_t num_zero_points = size_of(table.zero_point());
    if (num_zero_points != num_scales) {
      error(Code::kQuantizationMalformed,
            fmt::format("there are {} zero points for {} scales", num_zero_points, num_scales));
      return false;
    }
    if (num_scales == 1) return true;
    const int64_t axis = table.quantized_dimension();
    if (axis < 0 || axis >= type.rank()) {
      error(Code::kQuantizationMalformed,
            fmt::format("the quantised dimension is {}, the rank is {}", axis, type.rank()));
      return false;
    }
    const int64_t extent = type.shape[static_cast<size_t>(axis)];
    if (num_scales != extent) {
      error(Code::kQuantizationMalformed,
            fmt::format("there are {} scales for an extent of {}", num_scales, extent));
      return false;
    }
    num_scales_ += num_scales;
    if (num_scales_ <= options_.limits.scales) return true;
    error(Code::kModelLimit,
          fmt::format("the model has more than {} scales", options_.limits.scales));
    return false;
  }

  // Where the data of a tensor stand in the file; empty if it has none.
  std::optional<std::span<const uint8_t>> data_of(const format::Tensor& table) {
    const auto* buffers = model_.table->buffers();
    if (table.buffer() >= size_of(buffers)) return std::span<const uint8_t>();
    const format::Buffer& buffer = *buffers->Get(table.buffer());
    if (buffer.offset() > 1) {
      if (buffer.offset() <= model_.bytes.size() &&
          buffer.size() <= model_.bytes.size() - buffer.offset()) {
        return model_.bytes.subspan(buffer.offset(), buffer.size());
      }
      error(Code::kModelIndex, fmt::format("its data are {} bytes at {}, the file has {}",
                                           buffer.size(), buffer.offset(), model_.bytes.size()));
      return std::nullopt;
    }
    if (!buffer.data()) return std::span<const uint8_t>();
    return std::span<const uint8_t>(buffer.data()->data(), buffer.data()->size());
  }

  void read_constant(const format::Tensor& table, Tensor& tensor) {
    const std::optional<std::span<const uint8_t>> data = data_of(table);
    if (!data || data->empty()) return;
    const auto num_bytes = static_cast<int64_t>(data->size());
    if (num_bytes != tensor.type.size_bytes()) {
      error(Code::kConstantSize, fmt::format("its data are {} bytes, {} asks for {}", num_bytes,
                                             print_plain(tensor.type), tensor.type.size_bytes()));
      return;
    }
    // Tensors share the bytes of a buffer here, but not in the C.
    num_constant_bytes_ += num_bytes;
    if (num_constant_bytes_ > options_.limits.constant_bytes) {
      error(Code::kModelLimit, fmt::format("the constants up to here are larger than {} bytes",
                                           options_.limits.constant_bytes));
      return;
    }
    std::optional<Bytes>& shared = buffers_.at(table.buffer());
    if (!shared) shared = Bytes(std::vector<uint8_t>(data->begin(), data->end()));
    tensor.constant = shared;
  }

  const Model& model_;
  const ImportOptions& options_;
  UniqueNames& names_;
  Report& report_;
  std::string where_;                          // the tensor being read
  std::vector<std::optional<Bytes>> buffers_;  // by buffer: its bytes, once they were asked for
  std::set<std::string> unused_dims_;
  int64_t num_constant_bytes_ = 0;
  int64_t num_scales_ = 0;
};

}  // namespace

std::string find_excess(const Shape& shape, DType dtype, const ImportLimits& limits) {
  if (static_cast<int64_t>(shape.size()) > limits.rank) {
    return fmt::format("the rank is {}, at most {} is supported", shape.size(), limits.rank);
  }
  // With a zero extent the product is 0, but strides and loop bounds still multiply the others.
  int64_t num_bytes = size_in_bytes(dtype);
  for (const int64_t extent : shape) {
    const std::optional<int64_t> product = checked_mul(num_bytes, std::max<int64_t>(extent, 1));
    if (!product || *product > limits.tensor_bytes) {
      return fmt::format("{}{} is larger than {} bytes", name_of(dtype), print(shape),
                         limits.tensor_bytes);
    }
    num_bytes = *product;
  }
  return "";
}

std::vector<Tensor> read_tensors(const Model& model, const ImportOptions& options,
                                 UniqueNames& names, Report& report) {
  return Reader(model, options, names, report).read();
}

}  // namespace ingot::tflite
