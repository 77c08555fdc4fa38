// SPDX-License-Identifier: Apache-2.0
// Layers with random weights, as sample_models.h and random tests stack them. The scales are chosen
// so that the integers of every layer fill most of their range and only few of them saturate: tests
// on such networks see wrong roundings as well as wrong clamps. Zero points are never 0, weights
// are quantised per channel unless said otherwise.
#pragma once
#include <string>

#include "tests/support/random.h"
#include "tests/support/tflite_writer.h"

namespace ingot::testing {

struct Filter {
  int64_t channels = 1;  // of the result
  int64_t h = 1;
  int64_t w = 1;
  int64_t groups = 1;
};

class SampleNetwork {
 public:
  explicit SampleNetwork(uint64_t seed) : random_(seed) {}

  TfliteWriter& writer() { return writer_; }
  Random& random() { return random_; }

  // A quantisation with a zero point of [-60, 60] but 0 and a scale near `near`.
  Quantization quantization(float near = 0.05F);
  // One that suits the result of a layer whose input is x.
  Quantization quantization_after(int64_t x) {
    return quantization(writer_.type_of(x).scale() * 1.2F);
  }

  int64_t input(const std::string& name, const Shape& shape);
  // A constant of random int8.
  int64_t constant(const std::string& name, const Shape& shape, float scale_near = 0.05F);

  int64_t conv(const std::string& name, int64_t x, const Filter& filter, const Window& window = {},
               const MaybeQuantization& result = std::nullopt);
  // The channels of the result are those of x times `multiplier`.
  int64_t depthwise(const std::string& name, int64_t x, int64_t h, int64_t w,
                    const Window& window = {}, int64_t multiplier = 1);
  // Weights quantised as a whole; x is flattened but for its last dimension.
  int64_t dense(const std::string& name, int64_t x, int64_t units,
                Activation activation = Activation::NONE);
  int64_t dense_per_channel(const std::string& name, int64_t x, int64_t units,
                            Activation activation = Activation::NONE);
  int64_t dense_without_bias(const std::string& name, int64_t x, int64_t units);

 private:
  // int8 weights of a layer each of whose results sums `taps` products; per channel along `axis`,
  // or as a whole if that is -1.
  int64_t weights(const std::string& name, const Shape& shape, int64_t axis, int64_t taps);
  int64_t bias(const std::string& name, int64_t x, int64_t weights, int64_t channels, int64_t taps);

  TfliteWriter writer_;
  Random random_;
};

}  // namespace ingot::testing
