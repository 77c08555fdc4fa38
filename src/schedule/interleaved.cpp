// SPDX-License-Identifier: Apache-2.0
#include "schedule/interleaved.h"

#include <algorithm>
#include <numeric>

#include "loop/limited.h"
#include "loop/rewrite.h"
#include "schedule/block.h"
#include "schedule/rearranged.h"

namespace ingot {

using loop::Block;
using loop::Expr;
using loop::Type;

namespace {

// Each load's buffer by another name, where there is one.
Expr with_tables(const Expr& e, const std::map<std::string, std::string>& names) {
  const Expr inner =
      loop::map_operands(e, [&](const Expr& operand) { return with_tables(operand, names); });
  const auto* load = loop::as<loop::Load>(inner);
  if (!load) return inner;
  const auto found = names.find(load->buffer);
  if (found == names.end()) return inner;
  return loop::load(found->second, load->index, inner->type, load->alignment);
}

// The tables that are read by channel; nullopt if something else is.
class Tables {
 public:
  Tables(const loop::Kernel& kernel, std::string channel)
      : kernel_(kernel), channel_(std::move(channel)) {}

  void visit(const Expr& e) {
    loop::for_each_node(e, [&](const Expr& node) {
      const auto* load = loop::as<loop::Load>(node);
      if (!load || !loop::variables_of(load->index).contains(channel_)) return;
      const std::optional<AffineIndex> index = affine_index(load->index);
      const auto param = std::ranges::find(kernel_.params, load->buffer, &loop::Param::name);
      const bool is_table = index && index->constant == 0 && index->factors.size() == 1 &&
                            index->factor(channel_) == 1 && param != kernel_.params.end() &&
                            param->constant && node->type.is_scalar();
      if (is_table) found_.insert(load->buffer);
      others_ = others_ || !is_table;
    });
  }

  bool has_others() const { return others_; }
  const std::set<std::string>& found() const { return found_; }

 private:
  const loop::Kernel& kernel_;
  std::string channel_;
  std::set<std::string> found_;
  bool others_ = false;
};

bool ends_with_a_byte(const Block& finish) {
  if (finish.empty()) return false;
  const auto* store = std::get_if<loop::Store>(&finish.back().kind);
  return store && store->value->type == loop::kInt8 &&
         std::all_of(finish.begin(), finish.end() - 1,
                     [](const loop::Stmt& s) { return std::holds_alternative<loop::Let>(s.kind); });
}

}  // namespace

std::vector<int64_t> interleaved_order(int64_t count) {
  std::vector<int64_t> order;
  const int64_t whole = count / kInterleaved * kInterleaved;
  for (int64_t first = 0; first < whole; first += kInterleaved) {
    for (const int64_t parity : {0, 1}) {
      for (int64_t i = 0; i < kInterleaved / 2; ++i) order.push_back(first + 2 * i + parity);
    }
  }
  for (int64_t k = whole; k < count; ++k) order.push_back(k);
  return order;
}

std::vector<int64_t> in_order(int64_t count) {
  std::vector<int64_t> order(static_cast<size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  return order;
}

std::optional<Interleaved> with_interleaved_tables(const Contraction& c, const loop::Kernel& kernel,
                                                   const std::string& channel,
                                                   std::set<std::string>& names) {
  if (!ends_with_a_byte(c.finish)) return std::nullopt;
  Tables tables(kernel, channel);
  tables.visit(c.first);
  for (const loop::Stmt& s : c.finish) {
    if (const auto* let = std::get_if<loop::Let>(&s.kind)) tables.visit(let->value);
    if (const auto* store = std::get_if<loop::Store>(&s.kind)) tables.visit(store->value);
  }
  if (tables.has_others()) return std::nullopt;
  Interleaved result{c, {}};
  std::map<std::string, std::string> renamed;
  for (const std::string& table : tables.found()) {
    renamed[table] = loop::fresh_name(table + "_interleaved", names);
    result.tables.emplace_back(table, renamed[table]);
  }
  const auto rename = [&](const Expr& e) { return with_tables(e, renamed); };
  result.contraction.first = rename(c.first);
  result.contraction.finish = loop::map_expressions(c.finish, rename);
  return result;
}

void add_interleaved(Rescheduled& out,
                     const std::vector<std::pair<std::string, std::string>>& tables) {
  for (const auto& [before, after] : tables) {
    const auto param = std::ranges::find(out.kernel.params, before, &loop::Param::name);
    param->name = after;
    const int64_t size = size_in_bytes(param->dtype);
    const std::vector<int64_t> order = interleaved_order(param->num_elements);
    out.constants.push_back(derived(after, before, [order, size](const Bytes& table) {
      return rearranged(table, order, size);
    }));
  }
}

bool fit_16_bits(const Bytes& weights, const std::vector<std::vector<int64_t>>& channels,
                 int64_t width, int64_t taps) {
  return std::ranges::all_of(channels, [&](const std::vector<int64_t>& places) {
    for (int64_t first = 0; first < std::ssize(places); ++first) {
      const int64_t end_of_row = (first / width + 1) * width;
      int64_t low = 0;
      int64_t high = 0;
      for (int64_t i = first; i < std::min(first + taps, end_of_row); ++i) {
        const auto at = static_cast<size_t>(places[static_cast<size_t>(i)]);
        const int64_t w = static_cast<int8_t>(weights.view()[at]);
        low += std::min(127 * w, -128 * w);
        high += std::max(127 * w, -128 * w);
      }
      if (low < INT16_MIN || high > INT16_MAX) return false;
    }
    return true;
  });
}

std::optional<Block> stored_together(Block even, Block odd) {
  const Type lanes{DType::kInt16, kInterleaved};
  const auto* first = std::get_if<loop::Store>(&even.back().kind);
  const auto* second = std::get_if<loop::Store>(&odd.back().kind);
  if (!first || !second) return std::nullopt;
  const auto* a = loop::as<loop::Cast>(first->value);
  const auto* b = loop::as<loop::Cast>(second->value);
  const Type half{DType::kInt32, kInterleaved / 2};
  if (!a || !b || a->a->type != half || b->a->type != half) return std::nullopt;
  const Expr a_limited = loop::limited_to(a->a, DType::kInt8);
  const Expr b_limited = loop::limited_to(b->a, DType::kInt8);
  const bool is_limited = a_limited && b_limited;
  Expr value = loop::call("paired_x8", lanes,
                          {is_limited ? a_limited : a->a, is_limited ? b_limited : b->a});
  if (is_limited) {
    const auto all = [&](int64_t x) { return loop::cast(lanes, loop::lit(x, loop::kInt16)); };
    value = loop::min(loop::max(value, all(-128)), all(127));
  }
  loop::Store store{first->buffer, first->index,
                    loop::cast(Type{DType::kInt8, kInterleaved}, std::move(value))};
  even.pop_back();
  odd.pop_back();
  Block out = joined(std::move(even), std::move(odd));
  out.emplace_back(std::move(store));
  return out;
}

}  // namespace ingot
