// SPDX-License-Identifier: Apache-2.0
#include "assay/requantisation.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <set>
#include <string>
#include <string_view>

#include "assay/claims.h"
#include "assay/code.h"
#include "assay/rounding.h"
#include "assay/sums.h"

namespace ingot::assay {
namespace {

constexpr int64_t kMin32 = std::numeric_limits<int32_t>::min();
constexpr int64_t kMax32 = std::numeric_limits<int32_t>::max();
constexpr int64_t kMaxShift = 62;

// The reference's output for an accumulator, before the zero point and the clamp.
class Reference {
 public:
  Reference(const std::string& rounding, float input_scale, float weight_scale, float output_scale)
      : is_float_(rounding == "float"), is_single_(rounding == "single") {
    if (is_float_) {
      factor_ = input_scale * weight_scale / output_scale;
    } else {
      fixed_ = fixed_of(double{input_scale} * double{weight_scale} / double{output_scale});
    }
  }

  int64_t operator()(int64_t accumulator) const {
    return is_float_ ? in_float(accumulator) : rescaled(accumulator, fixed_, is_single_);
  }

 private:
  int64_t in_float(int64_t accumulator) const {
    constexpr float kLargest = 2147483520.0F;
    const float product = static_cast<float>(accumulator) * factor_;
    const double x = static_cast<double>(std::clamp(product, -kLargest, kLargest));
    const double below = std::floor(x);
    const double rest = x - below;
    const bool odd = std::fmod(below, 2.0) != 0;
    return static_cast<int64_t>(rest > 0.5 || (rest == 0.5 && odd) ? below + 1 : below);
  }

  bool is_float_;
  bool is_single_;
  float factor_ = 0;
  Fixed fixed_;
};

struct Formula {
  int64_t multiplier = 0;
  int64_t offset = 0;
  int64_t bend = 0;
  int64_t bias = 0;  // within the offset: the kernel's sum is the accumulator less this
  int64_t shift = 0;
};

struct Channel {
  int64_t low = 0;
  int64_t high = 0;
  Formula formula;
};

constexpr const char* kOfProofs[] = {
    "base", "shift", "clamps", "multipliers", "offsets", "bends", "biases_in_offsets", "tables"};

// One operator's statement.
class Statement {
 public:
  Statement(const Json& json, const std::string& rounding, std::string name)
      : json_(json), rounding_(rounding), name_(std::move(name)) {
    zero_point_ = whole("zero_point");
    lowest_ = whole("lowest");
    highest_ = whole("highest");
    if (!json["base"].is_null()) base_ = whole("base");
    clamps_ = json["clamps"].boolean().value_or(false);
    say(std::abs(zero_point_) <= 65535 && std::abs(base_) <= 65535 && std::abs(lowest_) <= 65535 &&
            std::abs(highest_) <= 65535 && lowest_ <= highest_,
        "no range");
    channels_ = json["accumulators"]["low"].array().size();
    say(json["accumulators"]["high"].array().size() == channels_, "no range of accumulators");
  }

  void check(const Loops& loops) const {
    const std::optional<bool> is_proved = json_["proved"].boolean();
    say(is_proved.has_value(), "neither a proof nor that there is none");
    const bool proved = *is_proved;
    // Without a proof no constants are stated: nobody could know what they are worth.
    for (const char* key : kOfProofs) say(proved || json_[key].is_null(), "unproved constants");
    for (size_t c = 0; c < channels_; ++c) {
      const int64_t low = element(json_["accumulators"]["low"], c);
      const int64_t high = element(json_["accumulators"]["high"], c);
      say(kMin32 <= low && low <= high && high <= kMax32, "accumulators that leave int32");
      if (proved) check_channel(c, {low, high, formula(c)});
    }
    if (!proved) return;
    check_table(loops, "multipliers", 4);
    check_table(loops, "offsets", 8);
    check_table(loops, "bends", 4);
  }

 private:
  void say(bool holds, std::string_view otherwise) const {
    if (!holds) expect(false, std::string(otherwise) + " of the requantisation of " + name_);
  }
  int64_t whole(const char* key) const {
    const std::optional<int64_t> value = json_[key].integer();
    if (!value) say(false, std::string("no ") + key);
    return *value;
  }
  // Offsets do not fit a double: they are written as text.
  int64_t number(const Json& value) const {
    if (const std::optional<int64_t> whole = value.integer()) return *whole;
    char* end = nullptr;
    const std::string text = value.text();
    const int64_t parsed = std::strtoll(text.c_str(), &end, 10);
    say(!text.empty() && *end == '\0' && std::to_string(parsed) == text, "no number");
    return parsed;
  }
  int64_t element(const Json& list, size_t c) const {
    const JsonArray& array = list.array();
    say(array.size() == 1 || array.size() == channels_, "a list of another length");
    return number(array[array.size() == 1 ? 0 : c]);
  }
  float scale(const Json& value) const {
    say(value.number() && *value.number() > 0 && std::isfinite(*value.number()), "no scale");
    return static_cast<float>(*value.number());
  }

  Formula formula(size_t c) const {
    Formula f;
    f.multiplier = element(json_["multipliers"], c);
    f.offset = element(json_["offsets"], c);
    if (!json_["bends"].array().empty()) f.bend = element(json_["bends"], c);
    if (!json_["biases_in_offsets"].array().empty()) {
      f.bias = element(json_["biases_in_offsets"], c);
    }
    f.shift = whole("shift");
    say(0 <= f.multiplier && f.multiplier <= kMax32 && kMin32 <= f.bend && f.bend <= kMax32,
        "constants that are not of int32");
    say(0 <= f.shift && f.shift <= kMaxShift, "no amount to shift by");
    say(f.bias == 0 || f.bend == 0, "a bend at another place than zero");
    return f;
  }

  // What the kernel computes, before its clamp.
  int64_t computed(const Formula& f, int64_t accumulator) const {
    const int64_t sum = accumulator - f.bias;
    say(kMin32 <= sum && sum <= kMax32, "sums that leave int32");
    const Wide product = Wide{sum} * f.multiplier + f.offset;
    const Wide total = product - (sum < 0 ? f.bend : 0);
    constexpr Wide kMin64 = std::numeric_limits<int64_t>::min();
    constexpr Wide kMax64 = std::numeric_limits<int64_t>::max();
    say(std::min(product, total) >= kMin64 && std::max(product, total) <= kMax64,
        "sums that leave int64");
    const int64_t result = static_cast<int64_t>(total >> f.shift);
    say(kMin32 <= result && result <= kMax32, "results that leave int32");
    return clamps_ ? std::clamp(result + base_, lowest_, highest_) : result + base_;
  }

  void check_channel(size_t c, const Channel& channel) const {
    const JsonArray& weights = json_["weight_scales"].array();
    say(weights.size() == 1 || weights.size() == channels_, "other scales of weights");
    const Reference reference(rounding_, scale(json_["input_scale"]),
                              scale(weights[weights.size() == 1 ? 0 : c]),
                              scale(json_["output_scale"]));
    const auto wanted = [&](int64_t accumulator) {
      return std::clamp(zero_point_ + reference(accumulator), lowest_, highest_);
    };
    const auto agree = [&](int64_t accumulator) {
      if (accumulator < channel.low || accumulator > channel.high) return;
      if (computed(channel.formula, accumulator) == wanted(accumulator)) return;
      say(false, "constants of channel " + std::to_string(c) + " that are wrong for accumulator " +
                     std::to_string(accumulator));
    };
    for (const int64_t accumulator : {channel.low, channel.high, int64_t{-1}, int64_t{0}}) {
      agree(accumulator);
    }
    int64_t from = channel.low;
    int64_t width = 1;  // of the last step: the next is about as wide
    const int64_t last = wanted(channel.high);
    for (int64_t value = wanted(channel.low) + 1; value <= last; ++value) {
      // The least accumulator whose output is at least `value`.
      int64_t below = from;
      int64_t above = channel.high;
      for (int64_t tries = 0; above - below > 1; ++tries) {
        const int64_t middle = tries < 3 ? std::clamp(from + width - tries, below + 1, above - 1)
                                         : below + (above - below) / 2;
        (wanted(middle) >= value ? above : below) = middle;
      }
      agree(above);
      agree(above - 1);
      width = above - from;
      from = above - 1;
    }
  }

  void check_table(const Loops& loops, const char* key, size_t bytes) const {
    const std::string name = json_["tables"][key].text();
    if (name.empty()) return;
    const auto buffer = std::ranges::find(loops.buffers, name, &Buffer::name);
    if (buffer == loops.buffers.end() || buffer->kind != "constant") say(false, "no table " + name);
    const JsonArray& stated = json_[key].array();
    if (buffer->data.size() != stated.size() * bytes) say(false, "another length of " + name);
    for (size_t i = 0; i < stated.size(); ++i) {
      uint64_t bits = 0;
      for (size_t b = 0; b < bytes; ++b) bits |= uint64_t{buffer->data[i * bytes + b]} << (8 * b);
      const int64_t value =
          bytes == 4 ? int64_t{static_cast<int32_t>(bits)} : static_cast<int64_t>(bits);
      if (value != number(stated[i])) say(false, "other numbers than " + name + " holds");
    }
  }

  const Json& json_;
  const std::string& rounding_;
  std::string name_;
  int64_t zero_point_ = 0;
  int64_t base_ = 0;
  int64_t lowest_ = 0;
  int64_t highest_ = 0;
  bool clamps_ = false;
  size_t channels_ = 0;
};

}  // namespace

void check_requantisation(const Json& json, const Loops& loops) {
  const std::string rounding = json["options"]["rounding"].text();
  std::set<std::string> known;  // sums: many operators state the same
  for (const Json& op : json["operators"].array()) {
    const Json& statement = op["requantisation"];
    const JsonArray& sums = op["sums"].array();
    if (statement.is_null() && sums.empty()) continue;
    expect(rounding == "double" || rounding == "single" || rounding == "float",
           "no rounding that is known");
    for (const Json& sum : sums) {
      if (known.insert(print(sum)).second)
        check_sum(sum, rounding != "double", op["name"].text(), loops);
    }
    if (statement.is_null()) continue;
    Statement(statement, rounding, op["name"].text()).check(loops);
  }
}

}  // namespace ingot::assay
