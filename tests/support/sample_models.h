// SPDX-License-Identifier: Apache-2.0
// Small int8 networks for the tests of every stage, each with something that others have not.
// Extents differ from each other (H != W, odd channels), so that swapped dimensions show. They are
// the same bytes in every build.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace ingot::testing {

struct SampleModel {
  std::string name;  // of the function that made it
  std::vector<uint8_t> file;
};

SampleModel dense_chain();          // with and without bias, per tensor and per channel
SampleModel depthwise_separable();  // conv s2 SAME, depthwise, 1x1, pool, reshape, dense, softmax
SampleModel residual();             // add with relu, of a sum that skips a conv
SampleModel two_branches();         // concatenation by channels, of two convs and a pooled input
SampleModel explicit_padding();     // pad + conv VALID, pad + depthwise VALID
SampleModel mean_over_space();      // mean over H and W, kept and dropped
SampleModel broadcasts();           // mul, sub and add of different shapes, constants among them
SampleModel gates();                // logistic and tanh as factors
SampleModel batch_of_three();       // conv, max pool SAME, dense
SampleModel dilated_and_grouped();  // dilation 2x3, groups 3, depth multiplier 2
SampleModel views();                // reshape, squeeze, expand_dims between other operators
SampleModel requantised();          // quantize, lone activations, dequantize; float at the ends
SampleModel constant_layers();      // convolution and dense whose clamp leaves one number
std::vector<SampleModel> sample_models();  // all of the above

// Networks whose outputs a careless planner shares, grows or retypes.
SampleModel narrow_output_after_int16();      // int8 output, fed by an inner tensor of int16
SampleModel narrow_output_after_int32();      // the same with int32
SampleModel narrow_output_after_float();      // the same with float32
SampleModel wide_then_narrow();               // output far smaller than every inner tensor
SampleModel output_read_later();              // an output that two later operators read
SampleModel input_is_output();                // an input returned as it is, beside a result
SampleModel same_output_twice();              // one tensor as outputs 0 and 2
SampleModel outputs_of_different_sizes();     // 2 bytes and 315 bytes
SampleModel constant_output();                // a constant as output, beside a result
SampleModel output_is_view_of_input();        // reshape from an input straight to an output
SampleModel output_is_view_of_output();       // reshape from one output to another
SampleModel output_in_concatenation();        // an output that is also part of a concatenation
std::vector<SampleModel> guarantee_models();  // all of the above

}  // namespace ingot::testing
