// SPDX-License-Identifier: Apache-2.0
#include "schedule/dsp_reduction.h"

#include <algorithm>
#include <set>
#include <utility>

#include "loop/rewrite.h"
#include "loop/simplify.h"
#include "loop/transform.h"
#include "schedule/block.h"
#include "schedule/columns.h"
#include "schedule/reduction.h"
#include "target/intrinsics.h"

namespace ingot {
namespace {

using loop::Block;
using loop::Expr;
using loop::lit;
using loop::var;

constexpr int64_t kChannels = 4;      // of a word
constexpr int64_t kMostUnrolled = 9;  // terms without a loop
constexpr int64_t kMostInTurn = 8;    // terms of one step of a longer loop
constexpr int64_t kMostInHalf = 255;  // 255 * -128 is an int16
constexpr int64_t kMostPositions = 4096;

std::optional<int64_t> value_of(const Expr& e) {
  const auto* literal = loop::as<loop::IntLit>(loop::simplify(e));
  return literal ? std::optional(literal->value) : std::nullopt;
}

// The greatest divisor of `n` up to `most`.
int64_t divisor_of(int64_t n, int64_t most) {
  int64_t best = 1;
  for (int64_t d = 2; d <= std::min(n, most); ++d) {
    if (n % d == 0) best = d;
  }
  return best;
}

class ReductionBuilder {
 public:
  ReductionBuilder(const loop::Kernel& kernel, Reduction r, std::vector<SumRange> ranges,
                   bool reverse)
      : kernel_(kernel),
        shared_(std::move(r.shared)),
        c_(std::move(r.c)),
        is_max_(r.is_max),
        ranges_(std::move(ranges)),
        reverse_(reverse) {
    channel_ = c_.outer.back();
    positions_.assign(c_.outer.begin(), c_.outer.end() - 1);
    names_ = names_in(kernel);
  }

  std::optional<Rescheduled> build() {
    if (!is_max_ && !split_sums()) return std::nullopt;
    Rescheduled out;
    out.kernel = kernel_;
    if (positions_.empty()) {
      out.kernel.body = with_channels(is_full_everywhere());
    } else {
      Columns columns(positions_, ranges_, 1, reverse_, names_);
      out.kernel.body = columns.rows(columns.segment(
          {0, columns.width()}, columns.full(), [&] { return with_channels(is_full_everywhere()); },
          [&] { return with_channels(true); }));
    }
    out.kernel.body = loop::simplify(out.kernel.body);
    out.functions = is_max_ ? std::vector{arm_greater_bytes()} : arm_dsp_intrinsics();
    return out;
  }

 private:
  bool is_full_everywhere() const {
    return std::ranges::all_of(ranges_, [](const SumRange& r) { return r.variable.empty(); });
  }

  int64_t num_terms(size_t from) const {
    int64_t terms = 1;
    for (size_t s = from; s < ranges_.size(); ++s) terms *= ranges_[s].full.end;
    return terms;
  }

  // Finds the outermost sum from which on halfwords hold the terms; the innermost one is cut in two
  // for it where that comes out even.
  bool split_sums() {
    while (in_halves_ < c_.sums.size() && num_terms(in_halves_) > kMostInHalf) ++in_halves_;
    if (in_halves_ < c_.sums.size()) return true;
    const SumRange range = ranges_.back();
    const int64_t inner = divisor_of(range.full.end, kMostInHalf);
    constexpr int64_t kWorthWhile = 16;
    if (!range.variable.empty() || inner < kWorthWhile) return false;
    const LoopRange whole = c_.sums.back();
    const std::string name = loop::fresh_name(whole.variable, names_);
    const int64_t factor = c_.x.index.factor(whole.variable);
    const int64_t steps = range.full.end / inner;
    c_.sums.back() = {whole.variable, lit(0), lit(steps)};
    c_.sums.push_back({name, lit(0), lit(inner)});
    c_.x.index.factors[whole.variable] = factor * inner;
    c_.x.index.factors[name] = factor;
    ranges_.back() = {{}, {{0, steps}}, {0, steps}};
    ranges_.push_back({{}, {{0, inner}}, {0, inner}});
    return true;
  }

  // ---- The outputs of one position.

  // `full`: all sums are.
  Block with_channels(bool full) {
    literals_.clear();
    Block out;
    for (const loop::Stmt& s : shared_) {
      const auto& let = std::get<loop::Let>(s.kind);
      const std::optional<int64_t> value = full ? value_at_full_positions(let.value) : std::nullopt;
      if (value) {
        literals_[let.name] = lit(*value, let.value->type);
      } else {
        out.push_back(s);
      }
    }
    const int64_t count = *channel_.extent();
    const int64_t whole = count / kChannels * kChannels;
    const Block groups = over_channels(0, whole, kChannels, group(full, var(channel_.variable)));
    Block rest = whole < count ? one_by_one(whole, count) : Block{};
    append(out, reverse_ ? joined(std::move(rest), groups) : joined(groups, std::move(rest)));
    return out;
  }

  Block over_channels(int64_t begin, int64_t end, int64_t step, Block body) const {
    return {loop::For{channel_.variable, lit(begin), lit(end), step, reverse_, std::move(body)}};
  }

  // What is the same at all positions where all sums are full.
  std::optional<int64_t> value_at_full_positions(const Expr& e) const {
    std::vector<Span> spans;
    int64_t count = 1;
    for (const LoopRange& p : positions_) {
      spans.push_back(full_positions(ranges_, p.variable, *p.extent()));
      if (!loop::variables_of(e).contains(p.variable)) spans.back().end = spans.back().begin + 1;
      count *= spans.back().length();
      if (count > kMostPositions) return std::nullopt;
    }
    std::optional<int64_t> common;
    for (int64_t i = 0; i < count; ++i) {
      std::map<std::string, Expr> at;
      int64_t rest = i;
      for (size_t p = 0; p < positions_.size(); ++p) {
        at[positions_[p].variable] = lit(spans[p].begin + rest % spans[p].length());
        rest /= spans[p].length();
      }
      const std::optional<int64_t> value = value_of(loop::substitute(e, at));
      if (!value || (common && *common != *value)) return std::nullopt;
      common = value;
    }
    return common;
  }

  // The channels that make no word, as the plain nest makes them.
  Block one_by_one(int64_t begin, int64_t end) {
    Block body = {loop::Let{c_.accumulator, c_.first}};
    const Expr element =
        loop::cast(loop::kInt32, loop::load(c_.x.buffer, index_of(nullptr), loop::kInt8, 1));
    const Expr acc = var(c_.accumulator);
    Block terms = {loop::Assign{c_.accumulator, is_max_ ? loop::max(acc, element) : acc + element}};
    for (size_t s = c_.sums.size(); s-- > 0;) {
      terms = {loop::For{c_.sums[s].variable, c_.sums[s].begin, c_.sums[s].end, 1, false, terms}};
    }
    append(body, std::move(terms));
    append(body, loop::substitute(c_.finish, literals_));
    Block loop = over_channels(begin, end, 1, renamed(body));
    std::optional<Block> jammed = loop::unroll_and_jam(loop, channel_.variable, end - begin);
    return jammed ? *std::move(jammed) : loop;
  }

  // Of x; `channel` is the plain one if there is none given.
  Expr index_of(const Expr& channel, int64_t more = 0,
                const std::map<std::string, Expr>& values = {}) const {
    AffineIndex index = c_.x.index;
    const int64_t rest = std::exchange(index.constant, 0) + more;
    Expr moved = nullptr;
    if (channel) index.factors.erase(channel_.variable);
    std::vector<std::string> order;
    for (const LoopRange& axis : c_.outer) order.push_back(axis.variable);
    const Expr at = loop::substitute(index.expr(order), values);
    return (channel ? at + channel : at) + rest;
  }

  // ---- Four channels.

  // Names of the words that the terms go to: the greatest bytes, or the sums of the even and the
  // odd ones.
  struct Words {
    std::string greatest;
    std::string even;
    std::string odd;
    bool begun = false;
  };

  Block group(bool full, const Expr& channel) {
    Block out;
    Words words;
    std::vector<Expr> values;
    if (is_max_) {
      words.greatest = loop::fresh_name("greatest", names_);
      append(out, terms(words, full, channel, 0));
      for (int64_t k = 0; k < kChannels; ++k) {
        values.push_back(loop::cast(loop::kInt32, loop::lane(greatest(words), k)));
      }
    } else if (in_halves_ == 0) {
      words = new_sums();
      append(out, terms(words, full, channel, 0));
      for (int64_t k = 0; k < kChannels; ++k) values.push_back(sum_of(words, k) + c_.first);
    } else {
      std::vector<std::string> sums;
      for (int64_t k = 0; k < kChannels; ++k) {
        sums.push_back(loop::fresh_name("sum", names_));
        out.emplace_back(loop::Let{sums.back(), c_.first});
        values.push_back(var(sums.back()));
      }
      append(out, sums_of_sums(sums, full, channel, 0));
    }
    append(out, finish(channel, words, values));
    return out;
  }

  Words new_sums() {
    return {{}, loop::fresh_name("even", names_), loop::fresh_name("odd", names_), false};
  }

  static Expr greatest(const Words& words) { return var(words.greatest, loop::kInt8x4); }
  static Expr sum_of(const Words& words, int64_t k) {
    const Expr halves = var(k % 2 == 0 ? words.even : words.odd, loop::kInt16x2);
    return loop::cast(loop::kInt32, loop::lane(halves, k / 2));
  }

  // The loops around those whose terms halfwords hold.
  Block sums_of_sums(const std::vector<std::string>& sums, bool full, const Expr& channel,
                     size_t s) {
    if (s < in_halves_) return over_sum(full, s, sums_of_sums(sums, full, channel, s + 1));
    Words words = new_sums();
    Block out = terms(words, full, channel, s);
    for (int64_t k = 0; k < kChannels; ++k) {
      const std::string& sum = sums[static_cast<size_t>(k)];
      out.emplace_back(loop::Assign{sum, var(sum) + sum_of(words, k)});
    }
    return out;
  }

  Block over_sum(bool full, size_t s, Block body) const {
    const LoopRange& sum = c_.sums[s];
    const Span& whole = ranges_[s].full;
    return {loop::For{sum.variable, full ? lit(whole.begin) : sum.begin,
                      full ? lit(whole.end) : sum.end, 1, false, std::move(body)}};
  }

  // All terms of the sums from `first` on.
  Block terms(Words& words, bool full, const Expr& channel, size_t first) {
    const bool unrolled = full && num_terms(first) <= kMostUnrolled;
    Block out;
    if (unrolled) {
      for (int64_t t = 0; t < num_terms(first); ++t) {
        std::map<std::string, Expr> at;
        int64_t rest = t;
        for (size_t s = c_.sums.size(); s-- > first;) {
          at[c_.sums[s].variable] = lit(rest % ranges_[s].full.end);
          rest /= ranges_[s].full.end;
        }
        append(out, term(words, index_of(channel, 0, at)));
      }
      return out;
    }
    begin(out, words);
    append(out, loops(words, full, channel, first));
    return out;
  }

  Block loops(Words& words, bool full, const Expr& channel, size_t s) {
    if (s + 1 < c_.sums.size()) return over_sum(full, s, loops(words, full, channel, s + 1));
    const std::string& variable = c_.sums[s].variable;
    const int64_t extent = ranges_[s].full.end;
    const bool constant = full || ranges_[s].variable.empty();
    const int64_t step = constant ? divisor_of(extent, kMostInTurn) : 1;
    Block body;
    for (int64_t j = 0; j < step; ++j) {
      append(body, term(words, index_of(channel, j * c_.x.index.factor(variable))));
    }
    if (!constant) return over_sum(full, s, std::move(body));
    return {loop::For{variable, lit(0), lit(extent), step, false, std::move(body)}};
  }

  void begin(Block& out, Words& words) const {
    words.begun = true;
    if (is_max_) {
      const Expr first = lit(*value_of(c_.first), loop::kInt8);
      out.emplace_back(
          loop::Let{words.greatest, loop::pack(loop::kInt8x4, {first, first, first, first})});
      return;
    }
    const Expr zero = lit(0, loop::kInt16);
    for (const std::string& name : {words.even, words.odd}) {
      out.emplace_back(loop::Let{name, loop::pack(loop::kInt16x2, {zero, zero})});
    }
  }

  // The term at `index`; the first one may begin the words.
  Block term(Words& words, const Expr& index) {
    Block out;
    const Expr x = loop::load(c_.x.buffer, index, loop::kInt8x4, 1);
    const bool is_first = !std::exchange(words.begun, true);
    if (is_max_) {
      const Expr all =
          is_first ? x : loop::call("greater_bytes", loop::kInt8x4, {greatest(words), x});
      set(out, words.greatest, all, is_first);
      return out;
    }
    const std::string word = loop::fresh_name("x_word", names_);
    out.emplace_back(loop::Let{word, x});
    for (const bool odd : {false, true}) {
      const std::string& name = odd ? words.odd : words.even;
      const std::string suffix = odd ? "_ror8" : "";
      std::vector<Expr> args = {var(word, loop::kInt8x4)};
      if (!is_first) args.insert(args.begin(), var(name, loop::kInt16x2));
      set(out, name,
          loop::call((is_first ? "sxtb16" : "sxtab16") + suffix, loop::kInt16x2, std::move(args)),
          is_first);
    }
    return out;
  }

  static void set(Block& out, const std::string& name, Expr value, bool is_first) {
    if (is_first) {
      out.emplace_back(loop::Let{name, std::move(value)});
    } else {
      out.emplace_back(loop::Assign{name, std::move(value)});
    }
  }

  // ---- What follows the sums.

  Block finish(const Expr& channel, const Words& words, const std::vector<Expr>& values) {
    if (is_max_ && c_.finish.size() == 1 && literals_.empty()) {
      const auto* store = std::get_if<loop::Store>(&c_.finish[0].kind);
      if (store && stores_accumulator(*store)) {
        const Expr at = loop::substitute(store->index, {{channel_.variable, channel}});
        return {loop::Store{store->buffer, at, greatest(words), 1}};
      }
    }
    Block out;
    for (int64_t k = 0; k < kChannels; ++k) {
      std::map<std::string, Expr> at = literals_;
      at[channel_.variable] = channel + k;
      append(out, ending_of(c_, values[static_cast<size_t>(k)], c_.finish, at, k, names_));
    }
    return out;
  }

  // As bytes side by side.
  bool stores_accumulator(const loop::Store& store) const {
    const auto* cast = loop::as<loop::Cast>(store.value);
    const auto* acc = cast ? loop::as<loop::Var>(cast->a) : nullptr;
    const std::optional<AffineIndex> index = affine_index(store.index);
    return acc && acc->name == c_.accumulator && store.value->type == loop::kInt8 && index &&
           index->factor(channel_.variable) == 1;
  }

  Block renamed(const Block& block) {
    std::map<std::string, std::string> names;
    for (const std::string& name : loop::declared_by(block)) {
      names[name] = loop::fresh_name(name, names_);
    }
    return loop::rename(block, names);
  }

  const loop::Kernel& kernel_;
  Block shared_;
  Contraction c_;
  bool is_max_;
  std::vector<SumRange> ranges_;
  bool reverse_;
  LoopRange channel_;
  std::vector<LoopRange> positions_;
  std::set<std::string> names_;
  size_t in_halves_ = 0;                  // the outermost sum whose terms halfwords hold
  std::map<std::string, Expr> literals_;  // what is shared, where it is known
};

}  // namespace

std::optional<Rescheduled> schedule_dsp_reduction(const loop::Kernel& kernel, bool reverse) {
  std::optional<Reduction> r = find_reduction(kernel);
  if (!r || r->c.outer.empty() || r->c.x.dtype != DType::kInt8) return std::nullopt;
  const LoopRange& channel = r->c.outer.back();
  if (r->c.x.index.factor(channel.variable) != 1 || *channel.extent() < kChannels) {
    return std::nullopt;
  }
  const std::optional<int64_t> first = value_of(r->c.first);
  if (!first || (r->is_max && (*first < -128 || *first > 127))) return std::nullopt;
  // Maxima begin with an element where they can.
  if (r->is_max && *first != -128) return std::nullopt;
  std::optional<std::vector<SumRange>> ranges = ranges_of_sums(r->c);
  if (!ranges) return std::nullopt;
  const auto by_channel = [&](const SumRange& s) { return s.variable == channel.variable; };
  if (std::ranges::any_of(*ranges, by_channel)) return std::nullopt;
  return ReductionBuilder(kernel, *std::move(r), *std::move(ranges), reverse).build();
}

}  // namespace ingot
