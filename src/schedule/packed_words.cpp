// SPDX-License-Identifier: Apache-2.0
#include "schedule/packed_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <limits>
#include <utility>

#include "loop/rewrite.h"
#include "support/arithmetic.h"
#include "support/check.h"

namespace ingot {
namespace {

using loop::Block;
using loop::Expr;
using loop::lit;
using loop::var;

constexpr int64_t kWords = PackedWords::kWords;
constexpr int64_t kSumBits = 20;
constexpr int64_t kUpperBits = 32 - kSumBits;
constexpr int64_t kLargestSum = (int64_t{1} << (kSumBits - 1)) - 1;

const loop::Type kUInt32{DType::kUInt32};
const loop::Type kInt64{DType::kInt64};

// By how much the sum of channel kWords + i is shifted in word `word`: the upper parts of all words
// in a row hold the sums in a row. Absent where none of its bits are.
std::optional<int64_t> shift_in(int64_t i, int64_t word) {
  const int64_t first = kSumBits * i - kUpperBits * word;  // bit of the upper part
  if (first >= kUpperBits || first + kSumBits <= 0) return std::nullopt;
  return kSumBits + first;
}

Expr i64(const Expr& e) { return loop::cast(kInt64, e); }
Expr mod_2_32(const Expr& e) {
  return loop::cast(kUInt32, loop::binary(loop::BinaryOp::kAnd, e, lit(0xffffffff, kInt64)));
}

loop::Function function(std::string name, std::vector<loop::Function::Parameter> params,
                        Expr result, std::string comment) {
  loop::Function f;
  f.name = std::move(name);
  f.params = std::move(params);
  f.result = std::move(result);
  f.comment = std::move(comment);
  return f;
}

// The low `bits` bits of a word with the sign that the highest of them is. Compilers make two
// shifts of it only if it is written as such.
loop::Function signed_low_bits(std::string name, loop::Type type, int64_t bits,
                               std::string comment) {
  const int64_t half = int64_t{1} << (bits - 1);
  const Expr low = loop::binary(loop::BinaryOp::kAnd, var("word", type), lit(2 * half - 1, type));
  const Expr result =
      loop::binary(loop::BinaryOp::kXor, loop::cast(loop::kInt32, low), lit(half)) - half;
  loop::Function f = function(std::move(name), {{"word", type}}, result, std::move(comment));
  f.condition = "defined(__GNUC__)";
  f.expression = fmt::format("(int32_t)((uint32_t)%1 << {0}) >> {0}", 32 - bits);
  return f;
}

std::string signed_name(int64_t bits) { return fmt::format("signed_{}_bits", bits); }

loop::Function signed_piece(int64_t bits) {
  return signed_low_bits(signed_name(bits), loop::kInt32, bits,
                         fmt::format("the low {} bits with their sign", bits));
}

}  // namespace

int64_t PackedWords::weight(const Bytes& weights, int64_t element) const {
  return static_cast<int8_t>(weights.view()[static_cast<size_t>(element)]) + offset;
}

bool PackedWords::fits(const Bytes& weights, int64_t x_offset) const {
  constexpr int64_t kLargestX = 128;
  constexpr int64_t kHighest = std::numeric_limits<int32_t>::max();
  const int64_t largest = kLargestX + std::abs(x_offset);
  for (const std::vector<int64_t>& row : rows) {
    int64_t part = 0;
    int64_t all = 0;
    for (size_t t = 0; t < row.size(); ++t) {
      if (static_cast<int64_t>(t) % terms_per_part == 0) part = 0;
      const int64_t magnitude = std::abs(weight(weights, row[t]));
      part += magnitude;
      all += magnitude;
      if (part * kLargestX > kLargestSum || all > kHighest / largest) return false;
    }
  }
  return true;
}

Bytes PackedWords::packed(const Bytes& weights) const {
  const int64_t num_terms = rows.empty() ? 0 : static_cast<int64_t>(rows[0].size());
  const int64_t outer = static_cast<int64_t>(rows.size()) / num_channels;
  std::vector<uint32_t> out;
  for (int64_t o = 0; o < outer; ++o) {
    for (int64_t first = 0; first < num_channels; first += kChannels) {
      const auto weight_of = [&](int64_t channel, int64_t term) -> int64_t {
        if (first + channel >= num_channels) return 0;
        const auto row = static_cast<size_t>(o * num_channels + first + channel);
        return weight(weights, rows[row][static_cast<size_t>(term)]);
      };
      for (int64_t t = 0; t < num_terms; ++t) {
        for (int64_t word = 0; word < kWords; ++word) {
          int64_t value = weight_of(word, t);
          for (int64_t i = 0; i < kChannels - kWords; ++i) {
            const std::optional<int64_t> shift = shift_in(i, word);
            if (shift) value += weight_of(kWords + i, t) * (int64_t{1} << *shift);
          }
          out.push_back(static_cast<uint32_t>(value & 0xffffffff));
        }
      }
    }
  }
  return Bytes::of(out);
}

Bytes PackedWords::sums(const Bytes& weights, int64_t factor,
                        const std::vector<std::vector<bool>>& inside) const {
  std::vector<int32_t> out;
  for (const std::vector<bool>& terms : inside) {
    for (const std::vector<int64_t>& row : rows) {
      int64_t sum = 0;
      for (size_t t = 0; t < row.size(); ++t) sum += terms[t] ? weight(weights, row[t]) : 0;
      out.push_back(static_cast<int32_t>(sum * factor));
    }
  }
  return Bytes::of(out);
}

Expr multiply_add(const Expr& word, const Expr& x, const Expr& weights) {
  return loop::call("multiply_add_mod", kUInt32, {word, x, weights});
}

// In C, compilers see that the 64-bit arithmetic is arithmetic of 32 bits.
std::vector<loop::Function> packed_functions() {
  const Expr word = var("word", kUInt32);
  const Expr weights = var("weights", kUInt32);
  return {
      function("multiply_add_mod", {{"word", kUInt32}, {"x", loop::kInt32}, {"weights", kUInt32}},
               mod_2_32(i64(word) + i64(var("x")) * i64(weights)), "word + x * weights (mod 2^32)"),
      signed_low_bits("low_sum", kUInt32, kSumBits, "the sum in the low 20 bits"),
      signed_piece(4),
      signed_piece(8),
      signed_piece(12),
      function("upper_bits", {{"word", kUInt32}, {"sum", loop::kInt32}},
               loop::cast(loop::kInt32, loop::shr(mod_2_32(i64(word) - i64(var("sum"))), kSumBits)),
               "what stands above the sum in the low 20 bits"),
      function("subtract_mod", {{"word", kUInt32}, {"part", loop::kInt32}},
               mod_2_32(i64(word) - i64(var("part"))), "word - part (mod 2^32)"),
  };
}

std::vector<Expr> take_apart(const std::vector<Expr>& words, int64_t channels,
                             std::set<std::string>& names, Block& out) {
  const auto let = [&](const char* name, Expr value) {
    std::string unique = loop::fresh_name(name, names);
    const loop::Type type = value->type;
    out.emplace_back(loop::Let{unique, std::move(value)});
    return var(std::move(unique), type);
  };
  const int64_t num_upper = std::max<int64_t>(0, channels - kWords);
  std::vector<Expr> low_sums;
  std::vector<Expr> upper(static_cast<size_t>(num_upper), nullptr);  // the bits that are known
  for (size_t w = 0; w < words.size(); ++w) {
    const auto word = static_cast<int64_t>(w);
    Expr rest = words[w];
    for (int64_t i = 0; i < num_upper; ++i) {
      const std::optional<int64_t> shift = shift_in(i, word);
      const Expr& known = upper[static_cast<size_t>(i)];
      if (!shift || !known) continue;
      const Expr part = known * (int64_t{1} << *shift);
      rest = let("rest", loop::call("subtract_mod", kUInt32, {rest, part}));
    }
    low_sums.push_back(let("low", loop::call("low_sum", loop::kInt32, {rest})));
    bool any = false;
    for (int64_t i = 0; i < num_upper; ++i) any = any || shift_in(i, word).has_value();
    if (!any) continue;
    Expr bits = let("bits", loop::call("upper_bits", loop::kInt32, {rest, low_sums.back()}));
    int64_t done = 0;  // of the bits in this word
    for (int64_t i = 0; i < num_upper; ++i) {
      const int64_t first = kSumBits * i - kUpperBits * word;
      if (!shift_in(i, word)) continue;
      const int64_t begin = std::max<int64_t>(0, first);
      const int64_t end = std::min(kUpperBits, first + kSumBits);
      CHECK(begin == done);
      const bool is_last = end == first + kSumBits;
      Expr piece;
      if (is_last) {
        // The sum's own sign takes from what stands above it.
        piece = let("piece", loop::call(signed_name(end - begin), loop::kInt32, {bits}));
        if (i + 1 < num_upper) bits = let("bits", loop::shr(bits - piece, end - begin));
      } else {
        const int64_t mask = (int64_t{1} << (end - begin)) - 1;
        piece = end - begin == kUpperBits
                    ? bits
                    : let("piece", loop::binary(loop::BinaryOp::kAnd, bits, lit(mask)));
      }
      done = end;
      Expr& known = upper[static_cast<size_t>(i)];
      const int64_t place = begin - first;
      known = known ? let("sum", known + piece * (int64_t{1} << place)) : piece;
    }
  }
  std::vector<Expr> sums = std::move(low_sums);
  sums.insert(sums.end(), upper.begin(), upper.end());
  return sums;
}

}  // namespace ingot
