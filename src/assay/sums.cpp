// SPDX-License-Identifier: Apache-2.0
#include "assay/sums.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

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
    std::vector<int64_t> rescaled_z;
    for (int64_t z = low; z <= high; ++z) {
      rescaled_z.push_back(rescaled((z - z_zero) * kUnit, z_, single_));
    }
    for (int64_t x = low; x <= high; ++x) {
      const int64_t a = rescaled((x - x_zero) * kUnit, x_, single_);
      for (int64_t z = low; z <= high; ++z) {
        const int64_t b = rescaled_z[static_cast<size_t>(z - low)];
        const int64_t wanted = y_zero + rescaled(subtracts_ ? a - b : a + b, y_, single_);
        if (computed(x, z, low, high) == std::clamp(wanted, low, high)) continue;
        say(false,
            "constants that are wrong for " + std::to_string(x) + " and " + std::to_string(z));
      }
    }
  }

  // That no order of the additions leaves int32.
  void check_range() const {
    say(std::abs(base_) <= 255, "a base that is no byte");
    say(0 <= shift_ && shift_ < 32, "no amount to shift by");
    if (!z_offsets_.empty()) {
      check_range_by_table();
      return;
    }
    const int64_t constants[] = {x_multiplier_, z_multiplier_, centre_, offset_, bend_};
    for (const int64_t c : constants) say(std::abs(c) <= kMax32, "a constant beyond int32");
    const int64_t byte = std::max(std::abs(whole("lowest")), std::abs(whole("highest")));
    const int64_t bound = byte * (std::abs(x_multiplier_) + std::abs(z_multiplier_)) +
                          std::abs(centre_) + std::abs(offset_) + std::abs(bend_);
    say(byte <= 255 && bound <= kMax32, "sums that leave int32");
  }

  // That the constant it names holds the offsets.
  void check_table(const Loops& loops) const {
    if (z_offsets_.empty()) return;
    const std::string name = json_["z_offsets_table"].text();
    const auto buffer = std::ranges::find(loops.buffers, name, &Buffer::name);
    if (buffer == loops.buffers.end() || buffer->kind != "constant") say(false, "no table " + name);
    if (buffer->data.size() != 4 * z_offsets_.size()) say(false, "another length of " + name);
    for (size_t i = 0; i < z_offsets_.size(); ++i) {
      uint32_t bits = 0;
      for (size_t b = 0; b < 4; ++b) bits |= uint32_t{buffer->data[i * 4 + b]} << (8 * b);
      if (static_cast<int32_t>(bits) != z_offsets_[i])
        say(false, "other numbers than " + name + " holds");
    }
  }

 private:
  void check_range_by_table() const {
    const int64_t low = whole("lowest");
    const int64_t high = whole("highest");
    const int64_t byte = std::max(std::abs(low), std::abs(high));
    say(byte <= 255 && std::abs(x_multiplier_) <= kMax32, "a constant beyond int32");
    say(static_cast<int64_t>(z_offsets_.size()) == high - low + 1, "no offset for each operand");
    for (const int64_t offset : z_offsets_) {
      say(std::abs(offset) <= kMax32, "a constant beyond int32");
      say(byte * std::abs(x_multiplier_) + std::abs(offset) <= kMax32, "sums that leave int32");
    }
  }
  std::vector<int64_t> offsets() const {
    std::vector<int64_t> values;
    for (const Json& offset : json_["z_offsets"].array()) {
      const std::optional<int64_t> value = offset.integer();
      say(value.has_value(), "no number");
      values.push_back(*value);
    }
    return values;
  }

  void say(bool holds, std::string_view otherwise) const {
    if (!holds) throw Lie("the JSON states " + std::string(otherwise) + " of a sum in " + name_);
  }
  int64_t whole(const char* key) const {
    const std::optional<int64_t> value = json_[key].integer();
    if (!value) say(false, std::string("no ") + key);
    return *value;
  }
  int64_t of_plane(const char* key) const { return z_offsets_.empty() ? whole(key) : 0; }
  float scale(const char* key) const {
    const std::optional<double> value = json_[key].number();
    if (!value || !(*value > 0) || !std::isfinite(*value)) say(false, std::string("no ") + key);
    return static_cast<float>(*value);
  }

  int64_t computed(int64_t x, int64_t z, int64_t low, int64_t high) const {
    if (!z_offsets_.empty()) {
      const int64_t sum = x * x_multiplier_ + z_offsets_.at(static_cast<size_t>(z - low));
      return std::clamp(base_ + (sum >> shift_), low, high);
    }
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
  const std::vector<int64_t> z_offsets_ = offsets();  // empty: the sum is a plane
  const int64_t x_multiplier_ = whole("x_multiplier");
  const int64_t z_multiplier_ = of_plane("z_multiplier");
  const int64_t centre_ = of_plane("centre");
  const int64_t offset_ = of_plane("offset");
  const int64_t bend_ = of_plane("bend");
  const int64_t base_ = whole("base");
  const int64_t shift_ = whole("shift");
};

}  // namespace

void check_sum(const Json& json, bool single, const std::string& name, const Loops& loops) {
  const ByteSum sum(json, single, name);
  sum.check_range();
  sum.check_table(loops);
  sum.check();
}

}  // namespace ingot::assay
