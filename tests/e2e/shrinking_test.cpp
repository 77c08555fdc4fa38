// SPDX-License-Identifier: Apache-2.0
// Shrunk networks give what the networks give that they were made from: in the reference executor,
// every output, every inner tensor in the channels that were kept, and every removed channel of the
// unshrunk network holds the constant that the record says.
//
// Random networks get dead channels planted: biases that saturate, filters of zeros and of small
// weights, weights that ignore channels. INGOT_RANDOM_SEEDS=N tries N networks instead of a few.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>

#include "exec/reference.h"
#include "graph/text.h"
#include "graph/verify.h"
#include "import/tflite/import.h"
#include "ops/access.h"
#include "ops/weighted_sum.h"
#include "passes/passes.h"
#include "support/check.h"
#include "support/file.h"
#include "tests/support/random.h"
#include "tests/support/random_network.h"
#include "tests/support/sample_network.h"
#include "tests/support/shared_files.h"

namespace ingot::testing {
namespace {

constexpr Rounding kRoundings[] = {Rounding::kDouble, Rounding::kSingle, Rounding::kFloat};

uint64_t num_seeds(uint64_t usual) {
  const char* const wanted = std::getenv("INGOT_RANDOM_SEEDS");
  return wanted ? std::strtoull(wanted, nullptr, 10) : usual;
}

Graph imported(std::span<const uint8_t> file) {
  const auto infer = [](const Op& op, Operands inputs, std::span<const TensorType> declared) {
    return rules_of(op).infer.call(op, inputs, declared);
  };
  Result<Imported> model = import_tflite(file, {.name = "net", .dims = {}, .infer = infer});
  if (!model) throw InternalError(model.error().front().what);
  EXPECT_THAT(legalize(model->graph), ::testing::IsEmpty());
  return std::move(model->graph);
}

TensorBytes random_bytes(const TensorType& type, Random& random) {
  const int64_t count = type.num_elements();
  if (type.dtype == DType::kFloat32) {
    const Bytes bytes = Bytes::of(random.reals(count, -2, 2));
    return {bytes.view().begin(), bytes.view().end()};
  }
  TensorBytes bytes(static_cast<size_t>(type.size_bytes()));
  // Also images that are all at one end of the range: there intervals are tight.
  const int64_t kind = random.integer(0, 3);
  for (uint8_t& byte : bytes) {
    byte = static_cast<uint8_t>(kind == 0 ? 127 : kind == 1 ? 128 : random.integer(0, 255));
  }
  return bytes;
}

// --- Planting

Value& own_constant(Graph& graph, ValueId& id) {
  Value copy = graph[id];
  copy.name = fmt::format("{}/own{}", copy.name, graph.values.size());
  id = graph.add(std::move(copy));
  return graph[id];
}

// Output channel of a weight by its index.
int64_t channel_of(const Node& node, const Shape& weights, int64_t index) {
  if (node.as<DepthwiseConv2D>()) return index % weights.back();
  int64_t per_channel = 1;
  for (size_t d = 1; d < weights.size(); ++d) per_channel *= weights[d];
  return index / per_channel;
}

void plant_int8(Graph& graph, Node& node, Random& random) {
  Value& filter = own_constant(graph, node.inputs[1]);
  std::vector<int8_t> weights = filter.constant->as<int8_t>();
  const Shape shape = filter.type.shape;
  const bool depthwise = node.as<DepthwiseConv2D>() != nullptr;
  const int64_t channels = depthwise ? shape.back() : shape.front();
  std::vector<int64_t> kinds;
  for (int64_t c = 0; c < channels; ++c) {
    kinds.push_back(random.chance(1, 2) ? 0 : random.integer(1, 4));
  }
  std::vector<bool> ignored;  // columns
  for (int64_t c = 0; c < shape.back(); ++c) ignored.push_back(!depthwise && random.chance(1, 5));
  for (size_t i = 0; i < weights.size(); ++i) {
    const auto index = static_cast<int64_t>(i);
    const auto kind = kinds[static_cast<size_t>(channel_of(node, shape, index))];
    if (kind == 1 || ignored[i % ignored.size()]) weights[i] = 0;
    if (kind == 2) weights[i] = static_cast<int8_t>(weights[i] % 2);
  }
  filter.constant = Bytes::of(weights);
  if (node.inputs.size() < 3 || !node.inputs[2].present()) return;
  Value& bias = own_constant(graph, node.inputs[2]);
  std::vector<int32_t> values = bias.constant->as<int32_t>();
  for (size_t c = 0; c < values.size(); ++c) {
    if (kinds[c] == 3) values[c] = 1 << 26;
    if (kinds[c] == 4) values[c] = -(1 << 26);
  }
  bias.constant = Bytes::of(values);
}

void plant_float(Graph& graph, Node& node, Random& random) {
  Value& filter = own_constant(graph, node.inputs[1]);
  const Shape shape = filter.type.shape;
  std::vector<bool> zero;
  for (int64_t c = 0; c < (node.as<DepthwiseConv2D>() ? shape.back() : shape.front()); ++c) {
    zero.push_back(random.chance(1, 3));
  }
  std::vector<float> weights = filter.constant->as<float>();
  for (size_t i = 0; i < weights.size(); ++i) {
    const int64_t channel = channel_of(node, shape, static_cast<int64_t>(i));
    if (zero[static_cast<size_t>(channel)]) weights[i] = i % 2 == 0 ? 0.0F : -0.0F;
  }
  filter.constant = Bytes::of(weights);
  if (node.inputs.size() < 3 || !node.inputs[2].present()) return;
  Value& bias = own_constant(graph, node.inputs[2]);
  std::vector<float> values = bias.constant->as<float>();
  for (size_t c = 0; c < values.size(); ++c) {
    if (zero[c]) values[c] = -0.0F;
  }
  bias.constant = Bytes::of(values);
}

Graph planted(Graph graph, Random& random) {
  for (Node& node : graph.nodes) {
    if (is_weighted_sum(node.op) && graph[node.inputs[0]].type.dtype == DType::kInt8) {
      plant_int8(graph, node, random);
    }
  }
  graph = remove_dead_nodes(std::move(graph));
  EXPECT_THAT(find_faults(graph), ::testing::IsEmpty());
  EXPECT_THAT(legalize(graph), ::testing::IsEmpty());
  return graph;
}

// --- Stacks

// As mobile networks are built: a convolution, then depthwise and 1x1 in turns with activations,
// sometimes a residual addition or a concatenation, a pool or mean, a reshape, dense, softmax.
class Stack {
 public:
  explicit Stack(uint64_t seed) : net_(seed) {}

  std::vector<uint8_t> file() {
    int64_t x = net_.input("x", {random().integer(1, 2), random().integer(4, 9),
                                 random().integer(4, 8), random().integer(1, 3)});
    x = net_.conv(name(), x, {random().integer(4, 9), 3, 3}, window());
    for (int64_t i = random().integer(1, 3); i > 0; --i) x = block(x);
    return end(x);
  }

 private:
  Random& random() { return net_.random(); }
  TfliteWriter& writer() { return net_.writer(); }
  Shape shape(int64_t x) { return writer().type_of(x).shape; }
  std::string name() { return "t" + std::to_string(num_names_++); }

  Window window() {
    Window result{.stride_h = random().integer(1, 2), .stride_w = random().integer(1, 2)};
    if (random().chance(1, 3)) result.dilation_h = random().integer(1, 2);
    if (random().chance(1, 3)) result.dilation_w = random().integer(1, 2);
    result.activation = random().chance(2, 3) ? Activation::RELU6 : Activation::NONE;
    return result;
  }
  static Window stay(Activation activation) { return {.activation = activation}; }

  int64_t block(int64_t x) {
    const int64_t taps = random().integer(1, 3);
    const int64_t multiplier = random().chance(1, 4) ? 2 : 1;
    x = net_.depthwise(name(), x, taps, random().integer(1, 3), window(), multiplier);
    const int64_t wide =
        net_.conv(name(), x, {random().integer(3, 9), 1, 1}, stay(Activation::RELU));
    const int64_t kind = random().integer(0, 4);
    if (kind == 0) {
      const int64_t beside = net_.conv(name(), x, {shape(wide)[3], 3, 3}, stay(Activation::RELU6));
      return writer().add(name(), wide, beside, net_.quantization_after(wide));
    }
    if (kind == 1) {
      const int64_t beside = net_.conv(name(), x, {random().integer(2, 5), 1, 2}, stay({}));
      const int64_t same =
          writer().quantize(name(), beside, DType::kInt8, *writer().type_of(wide).quantization);
      return writer().concatenation(name(), {wide, same}, 3);
    }
    return wide;
  }

  std::vector<uint8_t> end(int64_t x) {
    if (random().chance(1, 2)) {
      x = writer().mean(name(), x, {1, 2}, false, net_.quantization_after(x));
    } else if (random().chance(1, 2)) {
      x = writer().average_pool_2d(name(), x, {2, 1, 1, 1, Padding::SAME});
    }
    if (random().chance(1, 2)) x = writer().reshape(name(), x, {shape(x)[0], -1});
    x = net_.dense_per_channel(name(), x, random().integer(5, 9), Activation::RELU);
    x = net_.dense(name(), x, random().integer(2, 5));
    writer().output(x);
    return writer().bytes();
  }

  SampleNetwork net_;
  int64_t num_names_ = 0;
};

// The same network on floats, with channels of zeros planted.
Graph as_float(Graph graph, Random& random) {
  const std::vector<Value> old = graph.values;
  for (Value& value : graph.values) {
    if (value.is_constant()) {
      const TensorView view = {&value.type, value.constant->view()};
      std::vector<float> reals;
      for (int64_t i = 0; i < value.type.num_elements(); ++i) {
        reals.push_back(static_cast<float>(int_at(view, i)) / 64);
      }
      value.constant = Bytes::of(reals);
    }
    value.type = {DType::kFloat32, value.type.shape, std::nullopt};
  }
  for (Node& node : graph.nodes) {
    if (node.as<Requantize>()) node.op = Copy{};
    if (Clamp* clamp = node.as<Clamp>()) *clamp = {0, 6};
    if (is_weighted_sum(node.op)) plant_float(graph, node, random);
  }
  graph = remove_dead_nodes(std::move(graph));
  EXPECT_THAT(legalize(graph), ::testing::IsEmpty());
  return graph;
}

// --- Comparing

struct Comparer {
  const Graph& before;
  const Shrunk& shrunk;
  std::map<std::string, const ShrunkTensor*> tensors = {};

  void check(std::span<const TensorBytes> inputs, Rounding rounding) {
    for (const ShrunkTensor& tensor : shrunk.shrinking.tensors) tensors[tensor.name] = &tensor;
    const std::vector<TensorBytes> old = ReferenceExecutor(before, rounding).run_all(inputs);
    const std::vector<TensorBytes> now = ReferenceExecutor(shrunk.graph, rounding).run_all(inputs);
    std::map<std::string, size_t> by_name;
    for (size_t v = 0; v < now.size(); ++v) by_name[shrunk.graph.values[v].name] = v;
    for (size_t v = 0; v < old.size(); ++v) {
      const Value& value = before.values[v];
      if (value.is_constant() || old[v].empty()) continue;
      const auto left = by_name.find(value.name);
      compare(value, old[v], left == by_name.end() ? nullptr : &now[left->second]);
    }
    for (size_t i = 0; i < before.outputs.size(); ++i) {
      EXPECT_EQ(old[static_cast<size_t>(before.outputs[i].index)],
                now[static_cast<size_t>(shrunk.graph.outputs[i].index)]);
    }
  }

  // The kept channels of `value`, which hold in order what `left` holds, and the removed ones.
  void compare(const Value& value, const TensorBytes& old, const TensorBytes* left) {
    const auto entry = tensors.find(value.name);
    if (entry == tensors.end()) {
      EXPECT_TRUE(left && old == *left) << value.name;
      return;
    }
    const std::vector<RemovedChannel>& removed = entry->second->removed;
    std::map<int64_t, std::optional<int64_t>> values;
    for (const RemovedChannel& r : removed) values[r.channel] = r.value;
    const auto size = static_cast<size_t>(size_in_bytes(value.type.dtype));
    TensorBytes kept;
    for (int64_t i = 0; i < value.type.num_elements(); ++i) {
      const auto at = values.find(i % entry->second->channels);
      if (at == values.end()) {
        const auto from = old.begin() + i * static_cast<int64_t>(size);
        kept.insert(kept.end(), from, from + static_cast<int64_t>(size));
      } else if (at->second) {
        const TensorView view = {&value.type, old};
        const bool is_float32 = value.type.dtype == DType::kFloat32;
        EXPECT_EQ(is_float32 ? static_cast<double>(float_at(view, i))
                             : static_cast<double>(int_at(view, i)),
                  static_cast<double>(*at->second))
            << value.name << " element " << i;
      }
    }
    EXPECT_EQ(kept, left ? *left : TensorBytes()) << value.name;
  }
};

// Also: what is left is legal, and no input or output changed its type.
Shrinking check_shrinking(const Graph& graph, Rounding rounding, Random& random, int64_t count) {
  const Shrunk shrunk = shrink(graph, rounding);
  EXPECT_THAT(find_faults(shrunk.graph), ::testing::IsEmpty());
  EXPECT_THAT(legalize(shrunk.graph), ::testing::IsEmpty());
  for (size_t i = 0; i < graph.inputs.size(); ++i) {
    EXPECT_EQ(graph[graph.inputs[i]], shrunk.graph[shrunk.graph.inputs[i]]);
  }
  for (size_t i = 0; i < graph.outputs.size(); ++i) {
    EXPECT_EQ(graph[graph.outputs[i]].type, shrunk.graph[shrunk.graph.outputs[i]].type);
  }
  for (int64_t n = 0; n < count; ++n) {
    std::vector<TensorBytes> inputs;
    for (const ValueId id : graph.inputs) inputs.push_back(random_bytes(graph[id].type, random));
    Comparer{graph, shrunk}.check(inputs, rounding);
  }
  return shrunk.shrinking;
}

TEST(Shrinking, KeepsEveryOutputOfRandomNetworks) {
  const uint64_t seeds = num_seeds(150);
  int64_t constant = 0;
  int64_t unread = 0;
  for (uint64_t seed = 1; seed <= seeds; ++seed) {
    Random random(seed);
    const Graph graph = planted(imported(random_network(seed).file), random);
    const Shrinking shrinking = check_shrinking(graph, kRoundings[seed % 3], random, 4);
    for (const ShrunkTensor& tensor : shrinking.tensors) {
      for (const RemovedChannel& removed : tensor.removed) ++(removed.value ? constant : unread);
    }
    if (::testing::Test::HasFailure()) FAIL() << "seed " << seed << "\n" << print(graph);
  }
  // Most tensors of these networks are outputs, or few operators away from one.
  EXPECT_GT(constant, static_cast<int64_t>(seeds) / 5);
  EXPECT_GT(unread, static_cast<int64_t>(seeds) / 30);
}

TEST(Shrinking, KeepsEveryOutputOfStacks) {
  for (uint64_t seed = 1; seed <= num_seeds(80); ++seed) {
    const Rounding rounding = kRoundings[seed % 3];
    Random random(seed);
    const Graph graph = planted(imported(Stack(seed).file()), random);
    EXPECT_GT(check_shrinking(graph, rounding, random, 4).macs_removed(), 0);
    // Nothing is left over for a second time.
    EXPECT_EQ(shrink(shrink(graph, rounding).graph, rounding).shrinking.num_removed(), 0);
    if (::testing::Test::HasFailure()) FAIL() << "seed " << seed << "\n" << print(graph);
  }
}

TEST(Shrinking, KeepsEveryOutputOfFloatStacks) {
  int64_t removed = 0;
  for (uint64_t seed = 1; seed <= num_seeds(80); ++seed) {
    Random random(seed);
    const Graph graph = as_float(imported(Stack(seed).file()), random);
    const Shrinking shrinking = check_shrinking(graph, Rounding::kDouble, random, 2);
    EXPECT_EQ(shrinking.assumes_finite, !shrinking.tensors.empty());
    removed += shrinking.num_removed();
    if (::testing::Test::HasFailure()) FAIL() << "seed " << seed << "\n" << print(graph);
  }
  EXPECT_GT(removed, 80);
}

// The record as somebody reads it who has only the model: both ends of the accumulator's interval,
// requantised, give the constant.
TEST(Shrinking, TheRecordProvesWhatItSays) {
  int64_t proved = 0;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const Rounding rounding = kRoundings[seed % 3];
    Random random(seed);
    const Graph graph = planted(imported(Stack(seed).file()), random);
    const Uses uses = uses_of(graph);
    std::map<std::string, ValueId> ids;
    for (size_t v = 0; v < graph.values.size(); ++v) {
      ids[graph.values[v].name] = {static_cast<int32_t>(v)};
    }
    for (const ShrunkTensor& tensor : shrink(graph, rounding).shrinking.tensors) {
      const ValueId y = ids.at(tensor.name);
      const Node& node = graph.nodes.at(static_cast<size_t>(uses.producer_of(y).index));
      for (const RemovedChannel& removed : tensor.removed) {
        if (!removed.accumulator) continue;
        const auto output = [&](int64_t sum) {
          return reference::output_of_sum(sum, graph[node.inputs[0]].type,
                                          graph[node.inputs[1]].type, graph[y].type,
                                          removed.channel, rounding);
        };
        EXPECT_EQ(output(removed.accumulator->low), removed.value);
        EXPECT_EQ(output(removed.accumulator->high), removed.value);
        ++proved;
      }
    }
  }
  EXPECT_GT(proved, 20);
}

TEST(Shrinking, HalvesAPublicNetwork) {
  const std::optional<std::filesystem::path> shared = shared_folder();
  if (!shared) GTEST_SKIP() << "skipped: the shared models are not there";
  const Result<std::vector<uint8_t>> file =
      read_file((*shared / "models" / "vww_96_int8" / "model.tflite").string());
  ASSERT_TRUE(file);
  const Graph graph = fold_padding(fold_constants(imported(*file), Rounding::kDouble));
  Random random(1);
  const Shrinking shrinking = check_shrinking(graph, Rounding::kDouble, random, 2);
  EXPECT_EQ(shrinking.macs_before, 7489664);
  EXPECT_EQ(shrinking.macs_after, 3727313);
  EXPECT_EQ(shrinking.weights_bytes_before, 208112);
  EXPECT_LE(shrinking.weights_bytes_after, 29200);
}

}  // namespace
}  // namespace ingot::testing
