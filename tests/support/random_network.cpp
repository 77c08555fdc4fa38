// SPDX-License-Identifier: Apache-2.0
#include "tests/support/random_network.h"

#include <algorithm>
#include <functional>
#include <set>

#include "tests/support/sample_network.h"

namespace ingot::testing {
namespace {

constexpr int64_t kMostElements = 700;  // of a tensor, so that many networks take little time

class RandomNetwork {
 public:
  explicit RandomNetwork(uint64_t seed) : seed_(seed), net_(seed), random_(net_.random()) {}

  SampleModel make() {
    add_inputs();
    const int64_t wanted = random_.integer(2, 14);
    for (int64_t tries = 0; num_operators_ < wanted && tries < 200; ++tries) add_operator();
    choose_outputs();
    return {"random_" + std::to_string(seed_), net_.writer().bytes()};
  }

 private:
  TfliteWriter& writer() { return net_.writer(); }
  Shape shape(int64_t x) { return writer().type_of(x).shape; }
  std::string name() { return "t" + std::to_string(num_names_++); }
  bool is_image(int64_t x) { return shape(x).size() == 4; }

  void add_inputs() {
    const int64_t count = random_.integer(1, 2);
    const int64_t batch = random_.chance(1, 4) ? 3 : 1;
    for (int64_t i = 0; i < count; ++i) {
      Shape extents = {batch, random_.integer(1, 9), random_.integer(1, 7), random_.integer(1, 6)};
      if (random_.chance(1, 5)) extents = {batch, random_.integer(1, 40)};
      const std::string input = "x" + std::to_string(i);
      if (random_.chance(1, 6)) {
        const int64_t reals = writer().input(input, {DType::kFloat32, extents, std::nullopt});
        const Quantization near = net_.quantization(0.01F);
        values_.push_back(writer().quantize(name(), reals, DType::kInt8, near));
      } else {
        values_.push_back(net_.input(input, extents));
      }
    }
  }

  // Recent values are likelier, so that networks grow deep; old ones are read again now and then.
  int64_t pick_value() {
    const auto last = static_cast<int64_t>(values_.size()) - 1;
    if (random_.chance(1, 3)) return random_.pick(values_);
    return values_[static_cast<size_t>(random_.integer(std::max<int64_t>(0, last - 2), last))];
  }

  // A value whose shape fits; -1 if there is none.
  int64_t pick_partner(const std::function<bool(const Shape&)>& fits) {
    std::vector<int64_t> choices;
    for (const int64_t value : values_) {
      if (fits(shape(value))) choices.push_back(value);
    }
    return choices.empty() ? -1 : random_.pick(choices);
  }

  Activation activation() {
    return random_.pick<Activation>({Activation::NONE, Activation::NONE, Activation::RELU,
                                     Activation::RELU6, Activation::RELU_N1_TO_1});
  }

  // A window that fits into x; `dilations` too if asked for.
  Window window(int64_t x, int64_t h, int64_t w, bool dilations) {
    Window result{.stride_h = random_.integer(1, 3),
                  .stride_w = random_.integer(1, 2),
                  .activation = activation()};
    if (dilations && random_.chance(1, 4)) {
      result.dilation_h = random_.integer(1, 2);
      result.dilation_w = random_.integer(1, 3);
    }
    const bool fits =
        (h - 1) * result.dilation_h < shape(x)[1] && (w - 1) * result.dilation_w < shape(x)[2];
    if (fits && random_.chance(1, 2)) result.padding = Padding::VALID;
    return result;
  }

  int64_t conv(int64_t x) {
    const int64_t depth = shape(x)[3];
    Filter filter{
        .channels = random_.integer(1, 9), .h = random_.integer(1, 3), .w = random_.integer(1, 3)};
    for (const int64_t groups : {2, 3}) {
      if (depth % groups != 0 || random_.chance(2, 3)) continue;
      filter.groups = groups;
      filter.channels = groups * random_.integer(1, 3);
    }
    const Window moved = window(x, filter.h, filter.w, true);
    return net_.conv(name(), x, filter, moved);
  }

  // Same extents as its input, so that residual additions find a partner.
  int64_t conv_in_place(int64_t x) {
    const Filter filter{.channels = shape(x)[3], .h = 3, .w = random_.integer(1, 3)};
    const Window stay{.activation = activation()};
    return net_.conv(name(), x, filter, stay);
  }

  int64_t depthwise(int64_t x) {
    const int64_t h = random_.integer(1, 3);
    const int64_t w = random_.integer(1, 4);
    const Window moved = window(x, h, w, true);
    const int64_t multiplier = random_.integer(1, 2);
    return net_.depthwise(name(), x, h, w, moved, multiplier);
  }

  int64_t pool(int64_t x) {
    const int64_t h = random_.integer(1, 3);
    const int64_t w = random_.integer(1, 3);
    const Window moved = window(x, h, w, false);
    const Pool pool{h, w, moved.stride_h, moved.stride_w, moved.padding, moved.activation};
    return random_.chance(1, 2) ? writer().max_pool_2d(name(), x, pool)
                                : writer().average_pool_2d(name(), x, pool);
  }

  int64_t dense(int64_t x) {
    const int64_t units = random_.integer(1, 12);
    const int64_t kind = random_.integer(0, 2);
    if (kind == 0) return net_.dense_without_bias(name(), x, units);
    const Activation clamp = activation();
    return kind == 1 ? net_.dense(name(), x, units, clamp)
                     : net_.dense_per_channel(name(), x, units, clamp);
  }

  int64_t binary(int64_t x) {
    const Shape own = shape(x);
    int64_t other = pick_partner([&](const Shape& s) { return s == own; });
    if (random_.chance(1, 3)) {
      // Broadcasts: a constant of some of the last dimensions, each perhaps 1.
      Shape part(own.end() - random_.integer(0, static_cast<int64_t>(own.size())), own.end());
      for (int64_t& extent : part) {
        if (random_.chance(1, 3)) extent = 1;
      }
      other = net_.constant(name(), part);
    }
    if (other < 0) return -1;
    if (random_.chance(1, 2)) std::swap(x, other);
    const Quantization result = net_.quantization(writer().type_of(x).scale() * 1.5F);
    const Activation clamp = activation();
    switch (random_.integer(0, 2)) {
      case 0:
        return writer().add(name(), x, other, result, clamp);
      case 1:
        return writer().sub(name(), x, other, result, clamp);
      default:
        return writer().mul(name(), x, other, result, clamp);
    }
  }

  int64_t pad(int64_t x) {
    std::vector<std::pair<int64_t, int64_t>> amounts;
    for (size_t i = 0; i < shape(x).size(); ++i) {
      amounts.emplace_back(0, 0);
      if (random_.chance(1, 2)) amounts.back() = {random_.integer(0, 2), random_.integer(0, 2)};
    }
    return writer().pad(name(), x, amounts);
  }

  int64_t mean(int64_t x) {
    std::vector<int64_t> axes;
    for (size_t i = 0; i < shape(x).size(); ++i) {
      if (random_.chance(1, 2)) axes.push_back(static_cast<int64_t>(i));
    }
    if (axes.empty()) return -1;
    const Quantization result = net_.quantization(writer().type_of(x).scale() * 0.5F);
    return writer().mean(name(), x, axes, random_.chance(1, 2), result);
  }

  int64_t view(int64_t x) {
    const Shape own = shape(x);
    switch (random_.integer(0, 3)) {
      case 0:
        return writer().reshape(name(), x, {own.empty() ? 1 : own[0], -1});
      case 1:
        return own.size() == 4 ? writer().reshape(name(), x, {own[0], own[2], own[1], own[3]}) : -1;
      case 2:
        return writer().squeeze(name(), x, {});
      default:
        if (own.size() > 3) return -1;
        return writer().expand_dims(name(), x,
                                    random_.integer(0, static_cast<int64_t>(own.size())));
    }
  }

  // A part of x, or x in another order.
  int64_t move(int64_t x) {
    const Shape own = shape(x);
    if (own.empty()) return -1;
    const int64_t axis = random_.integer(0, std::ssize(own) - 1);
    const int64_t extent = own[static_cast<size_t>(axis)];
    switch (random_.integer(0, 3)) {
      case 0: {
        std::vector<int64_t> order;
        for (int64_t d = 0; d < std::ssize(own); ++d) {
          order.insert(order.begin() + random_.integer(0, d), d);
        }
        return writer().transpose(name(), x, order);
      }
      case 1: {
        std::vector<int64_t> begin(own.size(), 0);
        std::vector<int64_t> size(own.size(), -1);
        begin[static_cast<size_t>(axis)] = random_.integer(0, extent - 1);
        return writer().slice(name(), x, begin, size);
      }
      case 2: {
        // A part of each, the others left to be read later.
        const int64_t count = extent % 2 == 0 ? 2 : extent % 3 == 0 ? 3 : 1;
        const std::vector<int64_t> parts = writer().split(name(), x, axis, count);
        values_.insert(values_.end(), parts.begin(), parts.end() - 1);
        return parts.back();
      }
      default:
        return is_image(x) ? writer().resize_nearest_neighbor(name(), x, 2 * own[1], own[2]) : -1;
    }
  }

  int64_t concatenation(int64_t x) {
    const Shape own = shape(x);
    if (own.empty()) return -1;
    const auto axis = static_cast<size_t>(random_.integer(0, static_cast<int64_t>(own.size()) - 1));
    std::vector<int64_t> parts = {x};
    const auto fits = [&](Shape s) {
      if (s.size() != own.size()) return false;
      s[axis] = own[axis];
      return s == own;
    };
    while (parts.size() < 2 || (parts.size() < 4 && random_.chance(1, 3))) {
      parts.push_back(pick_partner(fits));
    }
    // Equal scales let producers write into the whole: make them equal by requantising, at times.
    const Quantization shared = *writer().type_of(x).quantization;
    for (int64_t& part : parts) {
      if (random_.chance(1, 2)) part = writer().quantize(name(), part, DType::kInt8, shared);
    }
    if (random_.chance(1, 2)) std::swap(parts.front(), parts.back());
    return writer().concatenation(name(), parts, static_cast<int64_t>(axis));
  }

  int64_t elementwise(int64_t x) {
    const Quantization result = net_.quantization(writer().type_of(x).scale() * 0.8F);
    switch (random_.integer(0, 7)) {
      case 0:
        return shape(x).empty() ? -1 : writer().softmax(name(), x, random_.real(0.5F, 2.0F));
      case 1:
        return writer().logistic(name(), x);
      case 2:
        return writer().tanh(name(), x);
      case 3:
        return writer().relu(name(), x, result);
      case 4:
        return writer().relu6(name(), x, random_.chance(1, 2) ? MaybeQuantization() : result);
      case 5:
        return writer().relu_n1_to_1(name(), x, MaybeQuantization());
      case 6:
        return writer().quantize(name(), x, DType::kInt8, result);
      default:
        return excursion(x);
    }
  }

  // A layer of floats whose weights are int8; the bias is there or not.
  int64_t hybrid(int64_t x) {
    const int64_t channels = random_.integer(1, 7);
    const bool image = is_image(x);
    const bool depthwise = image && random_.chance(1, 3);
    const int64_t depth = shape(x).back();
    const int64_t outputs = depthwise ? depth : channels;
    Shape filter = {channels, depth};
    if (image) filter = {channels, random_.integer(1, 3), random_.integer(1, 2), depth};
    if (depthwise) filter = {1, filter[1], filter[2], depth};
    Quantization scales = per_tensor(random_.real(0.002F, 0.02F), 0);
    if (random_.chance(1, 2)) {
      scales = {random_.reals(outputs, 0.002F, 0.02F),
                std::vector<int64_t>(static_cast<size_t>(outputs), 0), depthwise ? 3 : 0};
    }
    const TensorType type{DType::kInt8, filter, scales};
    const int64_t w =
        writer().constant(name(), type, random_.integers<int8_t>(type.num_elements(), -127, 127));
    const int64_t bias = random_.chance(1, 3)
                             ? kAbsent
                             : writer().constant(name(), {DType::kFloat32, {outputs}, std::nullopt},
                                                 random_.reals(outputs, -1, 1));
    if (!image) {
      const int64_t y = writer().fully_connected(name(), x, w, bias, std::nullopt, activation());
      writer()
          .last_operator()
          .builtin_options.AsFullyConnectedOptions()
          ->asymmetric_quantize_inputs = random_.chance(1, 2);
      return y;
    }
    const Window moved = window(x, filter[1], filter[2], true);
    return depthwise ? writer().depthwise_conv_2d(name(), x, w, bias, moved, std::nullopt)
                     : writer().conv_2d(name(), x, w, bias, moved, std::nullopt);
  }

  // To wider elements and back; the wide ones may become outputs.
  int64_t excursion(int64_t x) {
    const Quantization back = net_.quantization(writer().type_of(x).scale());
    int64_t wide = -1;
    if (!shape(x).empty() && random_.chance(1, 2)) {
      wide = hybrid(writer().dequantize(name(), x));
    } else if (random_.chance(1, 2)) {
      const float scale = writer().type_of(x).scale() / 100;
      wide = writer().quantize(name(), x, DType::kInt16, per_tensor(scale, 0));
    } else {
      wide = writer().relu6(name(), writer().dequantize(name(), x), std::nullopt);
    }
    if (random_.chance(1, 3)) results_.push_back(wide);
    return writer().quantize(name(), wide, DType::kInt8, back);
  }

  void add_operator() {
    const int64_t x = pick_value();
    int64_t y = -1;
    const int64_t kind = random_.integer(0, 15);
    if (kind <= 6 && is_image(x)) {
      y = kind <= 1 ? conv(x) : kind <= 3 ? conv_in_place(x) : kind == 4 ? depthwise(x) : pool(x);
    } else if (kind == 7) {
      y = shape(x).empty() ? -1 : dense(x);
    } else if (kind <= 10) {
      y = binary(x);
    } else if (kind == 11) {
      y = random_.chance(1, 2) ? pad(x) : mean(x);
    } else if (kind == 12) {
      y = random_.chance(1, 2) ? view(x) : move(x);
    } else if (kind == 13) {
      y = concatenation(x);
    } else if (kind >= 14) {
      y = elementwise(x);
    }
    if (y < 0) return;
    ++num_operators_;
    if (writer().type_of(y).num_elements() <= kMostElements) {
      values_.push_back(y);
    } else {
      results_.push_back(y);
    }
  }

  // What nobody reads, and some of what others read.
  void choose_outputs() {
    std::set<int64_t> read;
    for (const auto& op : writer().graph().operators) {
      read.insert(op->inputs.begin(), op->inputs.end());
    }
    for (const int64_t value : values_) {
      if (!read.contains(value) || random_.chance(1, 5)) results_.push_back(value);
    }
    if (random_.chance(1, 8)) results_.push_back(random_.pick(results_));
    for (const int64_t result : results_) writer().output(result);
  }

  uint64_t seed_;
  SampleNetwork net_;
  Random& random_;
  std::vector<int64_t> values_;   // that operators may read
  std::vector<int64_t> results_;  // that become outputs whatever happens
  int64_t num_operators_ = 0;
  int64_t num_names_ = 0;
};

}  // namespace

SampleModel random_network(uint64_t seed) { return RandomNetwork(seed).make(); }

}  // namespace ingot::testing
