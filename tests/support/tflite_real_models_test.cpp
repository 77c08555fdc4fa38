// SPDX-License-Identifier: Apache-2.0
// Our schema against models that other programs wrote: each must verify, and what is read through
// our field ids must agree with an independent description that lies beside it (desc.json).
#include <flatbuffers/flatbuffers.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "support/file.h"
#include "tests/support/shared_files.h"
#include "tflite_generated.h"

namespace ingot::testing {
namespace {

namespace format = tflite_format;
using nlohmann::json;

std::vector<std::filesystem::path> model_folders() {
  std::vector<std::filesystem::path> folders;
  const std::optional<std::filesystem::path> shared = shared_folder();
  if (!shared) return folders;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(*shared / "models")) {
    if (entry.path().filename() == "model.tflite") folders.push_back(entry.path().parent_path());
  }
  std::sort(folders.begin(), folders.end());
  return folders;
}

std::string lower_case(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

void expect_described(const format::TensorT& tensor, const json& described) {
  SCOPED_TRACE(tensor.name);
  if (described.at("name").is_string()) {
    EXPECT_EQ(tensor.name, described.at("name"));
  }
  EXPECT_EQ(lower_case(format::EnumNameTensorType(tensor.type)), described.at("type"));
  EXPECT_EQ(tensor.shape, described.at("shape").get<std::vector<int32_t>>());
  const auto signature = described.value("shape_signature", std::vector<int32_t>());
  if (!tensor.shape_signature.empty()) {
    EXPECT_EQ(tensor.shape_signature, signature);
  }
  const auto scales = described.value("scale", std::vector<float>());
  if (scales.empty()) return;
  ASSERT_TRUE(tensor.quantization);
  EXPECT_EQ(tensor.quantization->scale, scales);
  EXPECT_EQ(tensor.quantization->zero_point,
            described.at("zero_point").get<std::vector<int64_t>>());
}

// What every sane converter writes; nonsense here would mean that an option is read from the wrong
// field.
void expect_sane_options(const format::OperatorT& op) {
  const auto expect_extents = [](std::initializer_list<int32_t> extents) {
    for (const int32_t extent : extents) {
      EXPECT_GE(extent, 1);
      EXPECT_LE(extent, 1000);
    }
  };
  if (const auto* conv = op.builtin_options.AsConv2DOptions()) {
    expect_extents(
        {conv->stride_h, conv->stride_w, conv->dilation_h_factor, conv->dilation_w_factor});
    EXPECT_LE(conv->fused_activation_function, format::Activation::RELU6);
  }
  if (const auto* conv = op.builtin_options.AsDepthwiseConv2DOptions()) {
    expect_extents(
        {conv->stride_h, conv->stride_w, conv->dilation_h_factor, conv->dilation_w_factor});
  }
  if (const auto* pool = op.builtin_options.AsPool2DOptions()) {
    expect_extents({pool->stride_h, pool->stride_w, pool->filter_height, pool->filter_width});
  }
  if (const auto* softmax = op.builtin_options.AsSoftmaxOptions()) {
    EXPECT_EQ(softmax->beta, 1.0F);
  }
  if (const auto* add = op.builtin_options.AsAddOptions()) {
    EXPECT_LE(add->fused_activation_function, format::Activation::RELU6);
  }
}

class RealModels : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!shared_folder()) GTEST_SKIP() << "no ../shared and INGOT_SHARED is not set";
    ASSERT_FALSE(model_folders().empty());
  }
};

TEST_F(RealModels, VerifyAndReadAsDescribed) {
  for (const std::filesystem::path& folder : model_folders()) {
    SCOPED_TRACE(folder);
    const Result<std::vector<uint8_t>> bytes = read_file(folder / "model.tflite");
    ASSERT_TRUE(bytes);
    flatbuffers::Verifier verifier(bytes->data(), bytes->size());
    ASSERT_TRUE(format::VerifyModelBuffer(verifier));

    const std::unique_ptr<format::ModelT> model = format::UnPackModel(bytes->data());
    EXPECT_EQ(model->version, 3U);
    ASSERT_FALSE(model->subgraphs.empty());
    const format::SubGraphT& graph = *model->subgraphs[0];
    for (const auto& op : graph.operators) expect_sane_options(*op);

    std::ifstream file(folder / "desc.json");
    const json described = json::parse(file);
    for (const auto& [key, indices] :
         {std::pair("inputs", &graph.inputs), std::pair("outputs", &graph.outputs)}) {
      ASSERT_EQ(described.at(key).size(), indices->size());
      for (size_t i = 0; i < indices->size(); ++i) {
        const auto index = static_cast<size_t>(indices->at(i));
        expect_described(*graph.tensors.at(index), described.at(key).at(i));
      }
    }
  }
}

// Every buffer that a dense constant refers to has the bytes its shape asks for: shape, type and
// buffer of each tensor are therefore read from the right fields.
TEST_F(RealModels, ConstantsHaveTheBytesOfTheirShapes) {
  for (const std::filesystem::path& folder : model_folders()) {
    SCOPED_TRACE(folder);
    const Result<std::vector<uint8_t>> bytes = read_file(folder / "model.tflite");
    ASSERT_TRUE(bytes);
    const format::Model* model = format::GetModel(bytes->data());
    for (const format::Tensor* tensor : *model->subgraphs()->Get(0)->tensors()) {
      const auto* data = model->buffers()->Get(tensor->buffer())->data();
      if (!data || data->size() == 0) continue;
      uint64_t count = 1;
      if (tensor->shape()) {
        for (const int32_t extent : *tensor->shape()) count *= static_cast<uint64_t>(extent);
      }
      const uint64_t element_bytes = tensor->type() == format::TensorType::INT8    ? 1
                                     : tensor->type() == format::TensorType::INT16 ? 2
                                     : tensor->type() == format::TensorType::BOOL  ? 1
                                     : tensor->type() == format::TensorType::INT64 ? 8
                                                                                   : 4;
      EXPECT_EQ(data->size(), count * element_bytes) << tensor->name()->str();
    }
  }
}

}  // namespace
}  // namespace ingot::testing
