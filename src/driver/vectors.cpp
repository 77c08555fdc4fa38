// SPDX-License-Identifier: Apache-2.0
#include "driver/vectors.h"

#include <cstring>

namespace ingot {
namespace {

// SplitMix64 (Steele, Lea and Flood 2014): small, and the same everywhere.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t next() {
    state_ += 0x9e3779b97f4a7c15U;
    uint64_t z = state_;
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31U);
  }

 private:
  uint64_t state_;
};

template <class T>
void put(TensorBytes& bytes, T element) {
  const size_t end = bytes.size();
  bytes.resize(end + sizeof(T));
  std::memcpy(bytes.data() + end, &element, sizeof(T));
}

// In [-1, 1), a multiple of 2^-23, so that it is the same in all float types that hold it.
double unit(uint64_t bits) { return static_cast<double>(bits >> 40U) / 8388608.0 - 1.0; }

TensorBytes random_tensor(const TensorType& type, Random& random) {
  TensorBytes bytes;
  for (int64_t i = 0; i < type.num_elements(); ++i) {
    const uint64_t bits = random.next();
    switch (type.dtype) {
      case DType::kBool:
        put(bytes, static_cast<uint8_t>(bits >> 63U));
        break;
      case DType::kFloat32:
        put(bytes, static_cast<float>(unit(bits)));
        break;
      case DType::kFloat64:
        put(bytes, unit(bits));
        break;
      case DType::kFloat16:  // 1 <= |x| < 2
        put(bytes, static_cast<uint16_t>(0x3c00U | (bits & 0x83ffU)));
        break;
      default:
        for (int64_t b = 0; b < size_in_bytes(type.dtype); ++b) {
          put(bytes, static_cast<uint8_t>(bits >> static_cast<uint64_t>(56 - 8 * b)));
        }
    }
  }
  return bytes;
}

}  // namespace

std::vector<TensorBytes> random_inputs(const Graph& graph, uint64_t seed, int64_t index) {
  Random of_seed(seed);
  Random random(of_seed.next() ^ static_cast<uint64_t>(index));
  std::vector<TensorBytes> inputs;
  for (const ValueId id : graph.inputs) inputs.push_back(random_tensor(graph[id].type, random));
  return inputs;
}

std::vector<toolchain::GoldenVector> random_vectors(const Graph& graph, Rounding rounding,
                                                    uint64_t seed, int64_t count) {
  const ReferenceExecutor executor(graph, rounding);
  std::vector<toolchain::GoldenVector> vectors;
  for (int64_t i = 0; i < count; ++i) {
    std::vector<TensorBytes> inputs = random_inputs(graph, seed, i);
    std::vector<TensorBytes> outputs = executor.run(inputs);
    vectors.push_back({std::move(inputs), std::move(outputs)});
  }
  return vectors;
}

OutputFile self_check_file(const Compiled& compiled, const CompileOptions& options, int64_t count,
                           uint64_t seed) {
  const std::vector<toolchain::GoldenVector> vectors =
      random_vectors(compiled.model, options.rounding, seed, count);
  return {"test/" + options.name + "_test.c",
          toolchain::self_check_text(compiled.interface, vectors)};
}

}  // namespace ingot
