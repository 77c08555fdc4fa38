// SPDX-License-Identifier: Apache-2.0
#include "tests/support/sample_network.h"

#include <cmath>

namespace ingot::testing {
namespace {

// The standard deviation of integers spread evenly over [-127, 127].
constexpr float kSpread = 73.0F;

}  // namespace

Quantization SampleNetwork::quantization(float near) {
  const int64_t magnitude = random_.integer(1, 60);
  const int64_t zero_point = random_.chance(1, 2) ? magnitude : -magnitude;
  return per_tensor(near * random_.real(0.85F, 1.15F), zero_point);
}

int64_t SampleNetwork::input(const std::string& name, const Shape& shape) {
  return writer_.input(name, {DType::kInt8, shape, quantization()});
}

int64_t SampleNetwork::constant(const std::string& name, const Shape& shape, float scale_near) {
  const TensorType type{DType::kInt8, shape, quantization(scale_near)};
  return writer_.constant(name, type, random_.integers<int8_t>(type.num_elements(), -128, 127));
}

int64_t SampleNetwork::weights(const std::string& name, const Shape& shape, int64_t axis,
                               int64_t taps) {
  const float unit = 1.0F / (kSpread * std::sqrt(static_cast<float>(taps)));
  const int64_t channels = axis < 0 ? 1 : shape.at(static_cast<size_t>(axis));
  Quantization quantization{{}, std::vector<int64_t>(static_cast<size_t>(channels), 0), axis};
  if (channels == 1) quantization.axis = -1;
  for (int64_t i = 0; i < channels; ++i) {
    quantization.scales.push_back(unit * random_.real(0.6F, 1.4F));
  }
  const TensorType type{DType::kInt8, shape, quantization};
  return writer_.constant(name, type, random_.integers<int8_t>(type.num_elements(), -127, 127));
}

int64_t SampleNetwork::bias(const std::string& name, int64_t x, int64_t weights, int64_t channels,
                            int64_t taps) {
  Quantization quantization = *writer_.type_of(weights).quantization;
  for (float& scale : quantization.scales) scale *= writer_.type_of(x).scale();
  if (quantization.axis >= 0) quantization.axis = 0;
  const auto largest = static_cast<int64_t>(20.0F * kSpread * std::sqrt(static_cast<float>(taps)));
  return writer_.constant(name, {DType::kInt32, {channels}, quantization},
                          random_.integers<int32_t>(channels, -largest, largest));
}

int64_t SampleNetwork::conv(const std::string& name, int64_t x, const Filter& filter,
                            const Window& window, const MaybeQuantization& result) {
  const int64_t depth = writer_.type_of(x).shape.at(3) / filter.groups;
  const int64_t taps = filter.h * filter.w * depth;
  const int64_t w =
      weights(name + "/weights", {filter.channels, filter.h, filter.w, depth}, 0, taps);
  const int64_t b = bias(name + "/bias", x, w, filter.channels, taps);
  return writer_.conv_2d(name, x, w, b, window, result ? *result : quantization_after(x));
}

int64_t SampleNetwork::depthwise(const std::string& name, int64_t x, int64_t h, int64_t w,
                                 const Window& window, int64_t multiplier) {
  const int64_t channels = writer_.type_of(x).shape.at(3) * multiplier;
  const int64_t filter = weights(name + "/weights", {1, h, w, channels}, 3, h * w);
  const int64_t b = bias(name + "/bias", x, filter, channels, h * w);
  return writer_.depthwise_conv_2d(name, x, filter, b, window, quantization_after(x));
}

int64_t SampleNetwork::dense(const std::string& name, int64_t x, int64_t units,
                             Activation activation) {
  const int64_t depth = writer_.type_of(x).shape.back();
  const int64_t w = weights(name + "/weights", {units, depth}, -1, depth);
  const int64_t b = bias(name + "/bias", x, w, units, depth);
  return writer_.fully_connected(name, x, w, b, quantization_after(x), activation);
}

int64_t SampleNetwork::dense_per_channel(const std::string& name, int64_t x, int64_t units,
                                         Activation activation) {
  const int64_t depth = writer_.type_of(x).shape.back();
  const int64_t w = weights(name + "/weights", {units, depth}, 0, depth);
  const int64_t b = bias(name + "/bias", x, w, units, depth);
  return writer_.fully_connected(name, x, w, b, quantization_after(x), activation);
}

int64_t SampleNetwork::dense_without_bias(const std::string& name, int64_t x, int64_t units) {
  const int64_t depth = writer_.type_of(x).shape.back();
  const int64_t w = weights(name + "/weights", {units, depth}, -1, depth);
  return writer_.fully_connected(name, x, w, kAbsent, quantization_after(x));
}

}  // namespace ingot::testing
