// SPDX-License-Identifier: Apache-2.0
// Random numbers for tests: the same on every platform and in every release for a given seed, so
// that a failure can be repeated from the seed alone (the distributions of <random> promise no
// such thing). The generator is PCG-XSH-RR 64/32 (M. O'Neill, "PCG: A Family of Simple Fast
// Space-Efficient Statistically Good Algorithms for Random Number Generation", 2014).
#pragma once
#include <cstdint>
#include <vector>

namespace ingot::testing {

class Random {
 public:
  explicit Random(uint64_t seed) {
    next();
    state_ += seed;
    next();
  }

  // 32 random bits.
  uint32_t next() {
    const uint64_t state = state_;
    state_ = state * 6364136223846793005U + 1442695040888963407U;
    const uint32_t mixed = static_cast<uint32_t>(((state >> 18) ^ state) >> 27);
    const uint32_t rotation = static_cast<uint32_t>(state >> 59);
    return mixed >> rotation | mixed << ((32 - rotation) % 32);
  }

  // An integer of [low, high], for ranges of at most 2^32 numbers. Off uniform by at most one part
  // in 2^32 / (high - low + 1), which no test minds.
  int64_t integer(int64_t low, int64_t high) {
    const uint64_t count = static_cast<uint64_t>(high - low) + 1;
    return low + static_cast<int64_t>((uint64_t{next()} * count) >> 32);
  }

  // True in `numerator` of `denominator` cases.
  bool chance(int64_t numerator, int64_t denominator) {
    return integer(0, denominator - 1) < numerator;
  }

  // A number of [low, high]. In double the product is exact, so that compilers that contract it
  // with the sum give the same number as those that do not.
  float real(float low, float high) {
    const double width = double{high} - double{low};
    return static_cast<float>(double{low} +
                              width * (static_cast<double>(next() >> 8) / 16777216.0));
  }

  // `count` integers of [low, high].
  template <class T>
  std::vector<T> integers(int64_t count, int64_t low, int64_t high) {
    std::vector<T> numbers(static_cast<size_t>(count));
    for (T& number : numbers) number = static_cast<T>(integer(low, high));
    return numbers;
  }
  // `count` numbers of [low, high].
  std::vector<float> reals(int64_t count, float low, float high) {
    std::vector<float> numbers(static_cast<size_t>(count));
    for (float& number : numbers) number = real(low, high);
    return numbers;
  }
  // One of the elements.
  template <class T>
  const T& pick(const std::vector<T>& choices) {
    return choices[static_cast<size_t>(integer(0, static_cast<int64_t>(choices.size()) - 1))];
  }

 private:
  uint64_t state_ = 0;
};

}  // namespace ingot::testing
