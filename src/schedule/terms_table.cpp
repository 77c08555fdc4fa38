// SPDX-License-Identifier: Apache-2.0
#include "schedule/terms_table.h"

#include <algorithm>
#include <utility>

#include "schedule/rearranged.h"
#include "schedule/vector_weights.h"

namespace ingot {

int64_t TermsTable::num_terms() const {
  int64_t terms = 1;
  for (const SumRange& range : ranges_) terms *= range.full.end;
  return terms;
}

void TermsTable::set_sums(std::map<std::string, int64_t>& at, int64_t n) const {
  for (size_t s = c_.sums.size(); s-- > 0;) {
    at[c_.sums[s].variable] = n % ranges_[s].full.end;
    n /= ranges_[s].full.end;
  }
}

void TermsTable::set_outer(std::map<std::string, int64_t>& at, int64_t n) const {
  for (const LoopRange& axis : c_.outer) at[axis.variable] = 0;
  for (size_t g = channels_.size(); g-- > 0;) {
    at[channels_[g].variable] = n % *channels_[g].extent();
    n /= *channels_[g].extent();
  }
}

std::vector<std::vector<int64_t>> TermsTable::rows(const std::vector<int64_t>& order) const {
  std::vector<std::vector<int64_t>> rows(order.size());
  std::map<std::string, int64_t> at;
  set_outer(at, 0);
  for (int64_t t = 0; t < num_terms(); ++t) {
    set_sums(at, t);
    for (size_t k = 0; k < rows.size(); ++k) {
      at[channel_.variable] = order[k];
      rows[k].push_back(c_.w.index.at(at));
    }
  }
  return rows;
}

std::vector<int64_t> TermsTable::packed_order() const {
  int64_t outer = 1;
  for (const LoopRange& g : channels_) outer *= *g.extent();
  std::vector<int64_t> source;
  std::map<std::string, int64_t> at;
  for (int64_t o = 0; o < outer; ++o) {
    set_outer(at, o);
    for (const Chunk& chunk : chunks_) {
      for (int64_t first = chunk.first; first < chunk.end(); first += chunk.channels()) {
        for (int64_t t = 0; t < num_terms(); ++t) {
          set_sums(at, t);
          for (int64_t k = first; k < first + chunk.channels(); ++k) {
            at[channel_.variable] = k;
            source.push_back(k < *channel_.extent() ? c_.w.index.at(at) : -1);
          }
        }
      }
    }
  }
  return source;
}

loop::Expr TermsTable::packed_index(const loop::Expr& channel, int64_t together,
                                    const std::map<std::string, loop::Expr>& values) const {
  loop::Expr index = loop::lit(0);
  for (const LoopRange& g : channels_) index = index * *g.extent() + loop::var(g.variable);
  index = index * (chunks_.back().end() * num_terms()) + channel * num_terms();
  int64_t stride = together;
  for (size_t s = c_.sums.size(); s-- > 0;) {
    index = index + values.at(c_.sums[s].variable) * stride;
    stride *= ranges_[s].full.end;
  }
  return index;
}

void TermsTable::add_sums(Rescheduled& out, const std::string& weights, const std::string& name,
                          const std::vector<int64_t>& order) const {
  const auto w = std::ranges::find(out.kernel.params, weights, &loop::Param::name);
  loop::Param sums = *w;
  sums.name = name;
  sums.dtype = DType::kInt32;
  sums.num_elements = *channel_.extent();
  sums.alignment = 4;
  out.kernel.params.insert(w + 1, sums);
  const std::vector<std::vector<int64_t>> terms = rows(order);
  const int64_t factor = c_.x.offset;
  out.constants.push_back(derived(name, c_.w.buffer, [terms, factor](const Bytes& bytes) {
    return sums_of_weights(bytes, terms, factor);
  }));
}

loop::Expr index_of(const Contraction& c, AffineIndex index, const std::string& channel_variable,
                    const loop::Expr& channel, const std::map<std::string, loop::Expr>& values) {
  const int64_t rest = std::exchange(index.constant, 0);
  std::vector<std::pair<loop::Expr, int64_t>> replaced;
  for (const LoopRange& sum : c.sums) {
    replaced.emplace_back(values.at(sum.variable), index.factor(sum.variable));
    index.factors.erase(sum.variable);
  }
  if (channel) replaced.emplace_back(channel, index.factor(channel_variable));
  index.factors.erase(channel_variable);
  std::vector<std::string> order;
  for (const LoopRange& axis : c.outer) order.push_back(axis.variable);
  loop::Expr sum = index.expr(order);
  for (const auto& [value, factor] : replaced) sum = sum + value * factor;
  return sum + rest;
}

void TermsTable::pack(Rescheduled& out, const std::string& name) const {
  const std::vector<int64_t> source = packed_order();
  const auto w = std::ranges::find(out.kernel.params, c_.w.buffer, &loop::Param::name);
  w->name = name;
  w->num_elements = static_cast<int64_t>(source.size());
  const int64_t size = size_in_bytes(c_.w.dtype);
  out.constants.push_back(derived(name, c_.w.buffer, [source, size](const Bytes& weights) {
    return rearranged(weights, source, size);
  }));
}

}  // namespace ingot
