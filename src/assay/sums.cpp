// SPDX-License-Identifier: Apache-2.0
#include "assay/sums.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "assay/code.h"
#include "assay/rounding.h"

namespace ingot::assay {
namespace {

constexpr int64_t kMax32 = std::numeric_limits<int32_t>::max();
constexpr int64_t kUnit = int64_t{1} << 20;  // the extra bits of the reference

class ByteSum {
 public:
  ByteSum(const Json& json, bool single, const std::string& name)
      : json_(json), single_(single), name_(name) {
    const std::string kind = json["kind"].text();
    say(kind == "add" || kind == "sub", "no kind");
    subtracts_ = kind == "sub";
    const float x = scale("x_scale");
    const float z = scale("z_scale");
    const float y = scale("output_scale");
    if (subtracts_) {
      const float twice = 2 * std::max(x, z);
      x_ = fixed_of(double{x / twice});
      z_ = fixed_of(double{z / twice});
      y_ = fixed_of(double{twice / (static_cast<float>(kUnit) * y)});
    } else {
      const double twice = 2 * double{std::max(x, z)};
      x_ = fixed_of(double{x} / twice);
      z_ = fixed_of(double{z} / twice);
      y_ = fixed_of(twice / (static_cast<double>(kUnit) * double{y}));
    }
  }

  void check() const {
    const int64_t low = whole("lowest");
    const int64_t high = whole("highest");
    say(-128 <= low && low <= high && high <= 255 && high - low < 256, "no range of bytes");
    const int64_t x_zero = whole("x_zero_point");
    const int64_t z_zero = whole("z_zero_point");
    const int64_t y_zero = whole("zero_point");
    say(std::max({std::abs(x_zero), std::abs(z_zero), std::abs(y_zero)}) <= 255, "no zero points");
    for (int64_t x = low; x <= high; ++x) {
      for (int64_t z = low; z <= high; ++z) {
        const int64_t a = rescaled((x - x_zero) * kUnit, x_, single_);
        const int64_t b = rescaled((z - z_zero) * kUnit, z_, single_);
        const int64_t wanted = y_zero + rescaled(subtracts_ ? a - b : a + b, y_, single_);
        say(computed(x, z, low, high) == std::clamp(wanted, low, high),
            "constants that are wrong for " + std::to_string(x) + " and " + std::to_string(z));
      }
    }
  }

  // That no order of the additions leaves int32.
  void check_range() const {
    const int64_t constants[] = {x_multiplier_, z_multiplier_, centre_, offset_, bend_};
    for (const int64_t c : constants) say(std::abs(c) <= kMax32, "a constant beyond int32");
    const int64_t byte = std::max(std::abs(whole("lowest")), std::abs(whole("highest")));
    const int64_t bound = byte * (std::abs(x_multiplier_) + std::abs(z_multiplier_)) +
                          std::abs(centre_) + std::abs(offset_) + std::abs(bend_);
    say(byte <= 255 && bound <= kMax32, "sums that leave int32");
    say(std::abs(base_) <= 255, "a base that is no byte");
    say(0 <= shift_ && shift_ < 32, "no amount to shift by");
  }

 private:
  void say(bool holds, const std::string& otherwise) const {
    if (!holds) throw Lie("the JSON states " + otherwise + " of a sum in " + name_);
  }
  int64_t whole(const char* key) const {
    const std::optional<int64_t> value = json_[key].integer();
    say(value.has_value(), std::string("no ") + key);
    return *value;
  }
  float scale(const char* key) const {
    const std::optional<double> value = json_[key].number();
    say(value && *value > 0 && std::isfinite(*value), std::string("no ") + key);
    return static_cast<float>(*value);
  }

  int64_t computed(int64_t x, int64_t z, int64_t low, int64_t high) const {
    const int64_t s = x * x_multiplier_ + z * z_multiplier_ + centre_;
    return std::clamp(base_ + ((s + offset_ - (s < 0 ? bend_ : 0)) >> shift_), low, high);
  }

  const Json& json_;
  bool single_;
  const std::string& name_;
  bool subtracts_ = false;
  Fixed x_;
  Fixed z_;
  Fixed y_;
  const int64_t x_multiplier_ = whole("x_multiplier");
  const int64_t z_multiplier_ = whole("z_multiplier");
  const int64_t centre_ = whole("centre");
  const int64_t offset_ = whole("offset");
  const int64_t bend_ = whole("bend");
  const int64_t base_ = whole("base");
  const int64_t shift_ = whole("shift");
};

}  // namespace

void check_sum(const Json& json, bool single, const std::string& name) {
  const ByteSum sum(json, single, name);
  sum.check_range();
  sum.check();
}

}  // namespace ingot::assay
