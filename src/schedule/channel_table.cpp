// SPDX-License-Identifier: Apache-2.0
#include "schedule/channel_table.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "loop/rewrite.h"
#include "schedule/contraction.h"
#include "support/check.h"

namespace ingot {
namespace {

using loop::Expr;

constexpr int64_t kLanes = 4;

// What one vector of a channel group is: a table, or the sum of two.
using Column = std::vector<std::string>;

class Joiner {
 public:
  Joiner(Rescheduled& out, const std::string& weights) : out_(out) {
    for (const loop::Param& p : out.kernel.params) {
      const bool fits = p.dtype == DType::kInt32 || p.dtype == DType::kInt8;
      if (p.constant && fits && p.name != weights) tables_.insert(p.name);
    }
    find_loops();
    keep_tables_that_join();
  }

  void join() {
    rewritten();  // finds the columns
    if (columns_.size() < 2) return;
    // The kernel in reverse meets them in another order.
    std::ranges::sort(columns_, {}, [&](const Column& column) {
      std::vector<int64_t> places;
      for (const std::string& table : column)
        places.push_back(&param_of(table) - &params().front());
      return places;
    });
    const std::string source = sources_of(columns_.front().front()).front();
    std::set<std::string> names;
    for (const loop::Param& p : out_.kernel.params) names.insert(p.name);
    for (const std::string& name : loop::declared_by(out_.kernel.body)) names.insert(name);
    name_ = loop::fresh_name(source + "_joined", names);
    loop::Block body = rewritten();
    out_.kernel.body = std::move(body);
    replace_params();
  }

 private:
  // ---- Which loads join.

  // Loops whose variable is a multiple of four.
  void find_loops() {
    std::set<std::string> others;
    loop::for_each_stmt(out_.kernel.body, [&](const loop::Stmt& s) {
      const auto* f = std::get_if<loop::For>(&s.kind);
      if (f == nullptr) return;
      const auto* begin = loop::as<loop::IntLit>(f->begin);
      const bool whole = begin != nullptr && begin->value % kLanes == 0 && f->step % kLanes == 0;
      (whole ? multiples_ : others).insert(f->variable);
    });
    for (const std::string& variable : others) multiples_.erase(variable);
  }

  bool is_multiple(const AffineIndex& index) const {
    return index.constant % kLanes == 0 &&
           std::ranges::all_of(index.factors, [&](const auto& term) {
             return term.second % kLanes == 0 || multiples_.contains(term.first);
           });
  }

  // Where the elements of a load that joins lie.
  std::optional<AffineIndex> place_of(const loop::Load& load, loop::Type type) const {
    if (!tables_.contains(load.buffer)) return std::nullopt;
    std::optional<AffineIndex> index = affine_index(load.index);
    if (!index) return std::nullopt;
    const bool joins =
        type.is_scalar() ? index->factors.empty() : type.lanes == kLanes && is_multiple(*index);
    return joins ? index : std::nullopt;
  }

  // The load that gives `e` of int32, through a cast; null if there is none that joins.
  const loop::Load* load_in(const Expr& e) const {
    if (e->type.dtype != DType::kInt32) return nullptr;
    const auto* cast = loop::as<loop::Cast>(e);
    const Expr& inner = cast != nullptr ? cast->a : e;
    const auto* load = loop::as<loop::Load>(inner);
    const bool joins = load != nullptr && inner->type.lanes == e->type.lanes &&
                       place_of(*load, inner->type).has_value();
    return joins ? load : nullptr;
  }

  void keep_tables_that_join() {
    std::set<std::string> others;
    std::set<std::string> read;
    const auto visit = [&](const auto& self, const Expr& e) -> void {
      if (const loop::Load* load = load_in(e)) {
        read.insert(load->buffer);
        return;
      }
      if (const auto* load = loop::as<loop::Load>(e)) others.insert(load->buffer);
      loop::map_operands(e, [&](const Expr& operand) {
        self(self, operand);
        return operand;
      });
    };
    loop::map_expressions(out_.kernel.body, [&](const Expr& e) {
      visit(visit, e);
      return e;
    });
    std::erase_if(tables_, [&](const std::string& table) {
      return others.contains(table) || !read.contains(table);
    });
  }

  // ---- The kernel's new body.

  loop::Block rewritten() {
    return loop::map_expressions(out_.kernel.body, [&](const Expr& e) { return joined(e); });
  }

  Expr joined(const Expr& e) {
    if (const loop::Load* load = load_in(e)) return of_column({load->buffer}, *load, e->type);
    const auto* sum = loop::as<loop::BinaryExpr>(e);
    if (sum != nullptr && sum->op == loop::BinaryOp::kAdd) {
      const loop::Load* a = load_in(sum->a);
      const loop::Load* b = load_in(sum->b);
      if (a != nullptr && b != nullptr && loop::equal(a->index, b->index)) {
        return of_column({a->buffer, b->buffer}, *a, e->type);
      }
    }
    return loop::map_operands(e, [&](const Expr& operand) { return joined(operand); });
  }

  Expr of_column(Column column, const loop::Load& load, loop::Type type) {
    auto found = std::ranges::find(columns_, column);
    if (found == columns_.end()) found = columns_.insert(columns_.end(), std::move(column));
    const int64_t first = kLanes * (found - columns_.begin());
    AffineIndex index = *affine_index(load.index);
    const int64_t lane = index.factors.empty() ? index.constant % kLanes : 0;
    const auto count = static_cast<int64_t>(columns_.size());
    for (auto& [variable, factor] : index.factors) factor *= count;
    index.constant = (index.constant - lane) * count + first + lane;
    return loop::load(name_, index.expr({}), type, size_in_bytes(DType::kInt32));
  }

  // ---- The constants.

  const std::vector<loop::Param>& params() const { return out_.kernel.params; }

  const DerivedConstant* derived_of(const std::string& table) const {
    const auto found = std::ranges::find(out_.constants, table, &DerivedConstant::param);
    return found == out_.constants.end() ? nullptr : &*found;
  }
  std::vector<std::string> sources_of(const std::string& table) const {
    const DerivedConstant* derived = derived_of(table);
    return derived != nullptr ? derived->sources : std::vector<std::string>{table};
  }
  const loop::Param& param_of(const std::string& table) const {
    return *std::ranges::find(out_.kernel.params, table, &loop::Param::name);
  }

  // One table's part of the joined one.
  struct Part {
    int64_t column = 0;
    DType dtype = DType::kInt32;
    size_t first_source = 0;
    size_t num_sources = 1;
    std::function<Bytes(const std::vector<Bytes>&)> make;  // empty: the source as it is
  };

  static void add_part(const Part& part, int64_t num_columns, const std::vector<Bytes>& sources,
                       std::vector<int32_t>& table) {
    const auto begin = sources.begin() + static_cast<std::ptrdiff_t>(part.first_source);
    const std::vector<Bytes> own(begin, begin + static_cast<std::ptrdiff_t>(part.num_sources));
    const Bytes bytes = part.make ? part.make(own) : own.front();
    std::vector<int32_t> values;
    if (part.dtype == DType::kInt8) {
      for (const int8_t value : bytes.as<int8_t>()) values.push_back(value);
    } else {
      values = bytes.as<int32_t>();
    }
    for (int64_t i = 0; i < std::ssize(values); ++i) {
      const int64_t at = i / kLanes * kLanes * num_columns + kLanes * part.column + i % kLanes;
      int32_t& to = table.at(static_cast<size_t>(at));
      to = static_cast<int32_t>(int64_t{to} + values[static_cast<size_t>(i)]);
    }
  }

  void replace_params() {
    std::vector<std::string> sources;
    std::vector<Part> parts;
    int64_t groups = 0;
    for (size_t k = 0; k < columns_.size(); ++k) {
      for (const std::string& table : columns_[k]) {
        const std::vector<std::string> own = sources_of(table);
        const DerivedConstant* derived = derived_of(table);
        const loop::Param& param = param_of(table);
        parts.push_back({static_cast<int64_t>(k), param.dtype, sources.size(), own.size(),
                         derived != nullptr ? derived->make : nullptr});
        sources.insert(sources.end(), own.begin(), own.end());
        groups = std::max(groups, (param.num_elements + kLanes - 1) / kLanes);
      }
    }
    const auto num_columns = static_cast<int64_t>(columns_.size());
    const int64_t size = groups * kLanes * num_columns;
    loop::Param param = param_of(columns_.front().front());
    param.name = name_;
    param.dtype = DType::kInt32;
    param.num_elements = size;
    param.alignment = size_in_bytes(DType::kInt32);
    const auto is_joined = [&](const std::string& name) { return tables_.contains(name); };
    std::erase_if(out_.constants, [&](const DerivedConstant& c) { return is_joined(c.param); });
    auto& params = out_.kernel.params;
    const auto place =
        std::ranges::find_if(params, [&](const loop::Param& p) { return is_joined(p.name); });
    params.insert(place, std::move(param));
    std::erase_if(params, [&](const loop::Param& p) { return is_joined(p.name); });
    out_.constants.push_back(
        {name_, std::move(sources), [parts, num_columns, size](const std::vector<Bytes>& from) {
           std::vector<int32_t> table(static_cast<size_t>(size));
           for (const Part& part : parts) add_part(part, num_columns, from, table);
           return Bytes::of(table);
         }});
  }

  Rescheduled& out_;
  std::set<std::string> tables_;     // that join
  std::set<std::string> multiples_;  // variables
  std::vector<Column> columns_;
  std::string name_;
};

}  // namespace

void join_channel_tables(Rescheduled& out, const std::string& weights) {
  Joiner(out, weights).join();
}

}  // namespace ingot
