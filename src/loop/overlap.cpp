// SPDX-License-Identifier: Apache-2.0
#include "loop/overlap.h"

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "loop/accesses.h"
#include "loop/forms.h"
#include "support/arithmetic.h"

namespace ingot::loop {
namespace {

// What is known of a sequence of accesses: where the reads start at least, where the writes end at
// most, and by how much a write ends at most behind the start of a later read. Each is a set of
// forms over the loop variables around the sequence, of which the extreme one counts.
struct Summary {
  std::vector<Form> reads;      // the least
  std::vector<Form> writes;     // the greatest
  std::vector<Form> distances;  // the greatest
};

// Walks over the accesses and composes summaries. A loop's variable stays symbolic as long as the
// body's bounds and conditions are the same in all its iterations; otherwise it is cut into ranges
// where they are.
class Walk {
 public:
  Walk(const Accesses& accesses, Side side, int64_t budget)
      : accesses_(accesses), side_(side), budget_(budget) {}

  // The distance; nullopt if the budget ran out.
  std::optional<int64_t> run() {
    Summary all;
    if (!walk(accesses_.nodes, all)) return std::nullopt;
    int64_t most = -accesses_.input.size_bytes - accesses_.output.size_bytes;
    for (const Form& d : all.distances) most = std::max(most, d.constant);
    return most;
  }

 private:
  struct Piece {
    int64_t first = 0;
    int64_t count = 0;
  };

  // Adds `form`, unless another is as extreme everywhere; removes those that it makes superfluous.
  void add(std::vector<Form>& set, const Form& form, bool greatest) const {
    const auto covers = [&](const Form& a, const Form& b) {
      const std::optional<Range> range = forms_.range(greatest ? a - b : b - a);
      return range && range->low >= 0;
    };
    for (const Form& other : set) {
      if (covers(other, form)) return;
    }
    std::erase_if(set, [&](const Form& other) { return covers(form, other); });
    set.push_back(form);
  }

  // `first`, then `second`.
  void append(Summary& first, const Summary& second) const {
    for (const Form& d : second.distances) add(first.distances, d, true);
    for (const Form& w : first.writes) {
      for (const Form& r : second.reads) add(first.distances, w - r, true);
    }
    for (const Form& r : second.reads) add(first.reads, r, false);
    for (const Form& w : second.writes) add(first.writes, w, true);
  }

  // False if a variable must be cut (forms_.cut()) or the budget ran out.
  bool walk(const std::vector<AccessNode>& nodes, Summary& out) {
    const size_t scope = forms_.num_names();
    bool done = true;
    for (const AccessNode& node : nodes) {
      done = walk(node, out);
      if (!done) break;
    }
    forms_.forget_names(scope);
    return done;
  }

  bool walk(const AccessNode& node, Summary& out) {
    if (--budget_ < 0) {
      forms_.clear_cut();
      return false;
    }
    switch (node.kind) {
      case AccessNode::Kind::kLet:
        forms_.name_expression(node.name, node.a);
        return true;
      case AccessNode::Kind::kRead:
      case AccessNode::Kind::kWrite:
        return walk_access(node, out);
      case AccessNode::Kind::kLoop:
        return walk_loop(node, out);
      case AccessNode::Kind::kBranch:
        return walk_branch(node, out);
    }
    return false;
  }

  bool walk_access(const AccessNode& node, Summary& out) {
    const bool is_write = node.kind == AccessNode::Kind::kWrite;
    const AccessedParam& param = is_write ? accesses_.output : accesses_.input;
    const std::optional<Form> index = forms_.form_of(node.a);
    if (!index && forms_.cut()) return false;
    const std::optional<Range> range = index ? forms_.range(*index) : std::nullopt;
    const int64_t last = param.num_elements - node.lanes;
    // An index that may be anything, or is only right where data says so.
    const bool anywhere = !range || range->low < 0 || range->high > last;
    Form begin = anywhere ? Form{} : *index * param.element_bytes;
    Form end = anywhere ? Form{} : begin;
    end.constant += anywhere ? param.size_bytes : node.lanes * param.element_bytes;
    if (side_ == Side::kBehind) std::tie(begin, end) = std::pair(end * -1, begin * -1);
    Summary one;
    (is_write ? one.writes : one.reads).push_back(is_write ? end : begin);
    append(out, one);
    return true;
  }

  bool walk_branch(const AccessNode& node, Summary& out) {
    const std::optional<Form> condition = forms_.form_of(node.a);
    if (!condition && forms_.cut()) return false;
    if (condition && condition->is_constant()) {
      return walk(condition->constant != 0 ? node.body : node.other, out);
    }
    Summary either;
    Summary other;
    if (!walk(node.body, either) || !walk(node.other, other)) return false;
    for (const Form& r : other.reads) add(either.reads, r, false);
    for (const Form& w : other.writes) add(either.writes, w, true);
    for (const Form& d : other.distances) add(either.distances, d, true);
    append(out, either);
    return true;
  }

  bool walk_loop(const AccessNode& node, Summary& out) {
    const std::optional<Form> begin = forms_.form_of(node.a);
    if (!begin && forms_.cut()) return false;
    const std::optional<Form> end = forms_.form_of(node.b);
    if (!end && forms_.cut()) return false;
    if (!begin || !end) return walk_unknown_loop(node, out);
    const Form extent = *end - *begin;
    if (!extent.is_constant()) return forms_.cut_in_half(extent);
    const int64_t count = std::max<int64_t>(ceil_div(extent.constant, node.step), 0);
    std::vector<Piece> pieces = {{0, count}};
    while (!pieces.empty()) {
      const Piece piece = pieces.back();
      pieces.pop_back();
      if (piece.count == 0) continue;
      const int64_t first = node.reverse ? count - 1 - piece.first : piece.first;
      const int64_t step = node.reverse ? -node.step : node.step;
      Form value = *begin;
      value.constant += first * node.step;
      if (walk_piece(node, value, step, piece.count, out)) continue;
      const std::optional<Cut> cut = forms_.cut();
      if (!cut || cut->variable != forms_.num_variables()) return false;
      pieces.push_back({piece.first + cut->at, piece.count - cut->at});
      pieces.push_back({piece.first, cut->at});
      forms_.clear_cut();
    }
    return true;
  }

  // `count` iterations, in which the variable has the values value, value + step, ...
  bool walk_piece(const AccessNode& node, Form value, int64_t step, int64_t count, Summary& out) {
    const size_t scope = forms_.num_names();
    const int64_t variable = count > 1 ? forms_.enter_variable(count) : -1;
    if (variable >= Form::kMaxVariables) return give_up();
    if (variable >= 0) value.factors[static_cast<size_t>(variable)] = step;
    forms_.name_form(node.name, value);
    Summary body;
    const bool done = walk(node.body, body);
    forms_.forget_names(scope);
    if (variable >= 0) {
      if (done) repeat(body, static_cast<size_t>(variable), count);
      forms_.leave_variable();
    }
    if (done) append(out, body);
    return done;
  }

  bool give_up() {
    budget_ = -1;
    forms_.clear_cut();
    forms_.leave_variable();
    return false;
  }

  // From one iteration, as forms over `variable` among others, to all `count` of them. Pairs of an
  // earlier and a later iteration, 0 <= i < j < count, are a triangle, on which what is affine is
  // greatest at a corner.
  void repeat(Summary& body, size_t variable, int64_t count) const {
    Summary all;
    const auto at = [&](Form form, bool greatest) {
      const int64_t slope = form.factors[variable];
      form.factors[variable] = 0;
      if ((slope > 0) == greatest) form.constant += slope * (count - 1);
      return form;
    };
    for (const Form& w : body.writes) {
      for (const Form& r : body.reads) {
        const int64_t up = w.factors[variable];
        const int64_t down = r.factors[variable];
        Form d = w - r;
        d.factors[variable] = 0;
        d.constant += std::max({-down, -down * (count - 1), up * (count - 2) - down * (count - 1)});
        add(all.distances, d, true);
      }
    }
    for (const Form& d : body.distances) add(all.distances, at(d, true), true);
    for (const Form& w : body.writes) add(all.writes, at(w, true), true);
    for (const Form& r : body.reads) add(all.reads, at(r, false), false);
    body = std::move(all);
  }

  // Any number of iterations, in which the variable may be anything.
  bool walk_unknown_loop(const AccessNode& node, Summary& out) {
    const size_t scope = forms_.num_names();
    forms_.name_unknown(node.name);
    Summary body;
    const bool done = walk(node.body, body);
    forms_.forget_names(scope);
    if (!done) return false;
    const Summary again = body;
    append(body, again);
    append(out, body);
    return true;
  }

  const Accesses& accesses_;
  Side side_;
  int64_t budget_;
  Forms forms_;
};

}  // namespace

int64_t least_distance(const Kernel& kernel, const std::string& output, const std::string& input,
                       Side side, int64_t budget) {
  const Accesses accesses = accesses_of(kernel, output, input);
  const int64_t lower =
      side == Side::kBefore ? accesses.output.size_bytes : accesses.input.size_bytes;
  const int64_t other =
      side == Side::kBefore ? accesses.input.size_bytes : accesses.output.size_bytes;
  const std::optional<int64_t> distance = Walk(accesses, side, budget).run();
  return distance ? std::clamp(*distance, -other, lower) : lower;
}

}  // namespace ingot::loop
