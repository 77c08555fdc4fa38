// SPDX-License-Identifier: Apache-2.0
#include "schedule/run.h"

#include <algorithm>

#include "support/arithmetic.h"

namespace ingot {
namespace {

// The least and the greatest index of x at element 0 of the run, over all columns of `columns`.
Span extremes(const Contraction& c, const Run& run, const std::vector<SumRange>& ranges,
              const std::string& column, const Span& columns) {
  Span span{c.x.index.constant, c.x.index.constant};
  std::map<std::string, bool> done;
  const auto add = [&](int64_t low, int64_t high) {
    span.begin += std::min(low, high);
    span.end += std::max(low, high);
  };
  for (const LoopRange& axis : c.outer) {
    const int64_t step = c.x.index.factor(axis.variable);
    const Span values = axis.variable == column ? columns : Span{0, *axis.extent()};
    // With the sums that depend on it, value by value.
    std::optional<Span> all;
    for (int64_t v = values.begin; v < values.end; ++v) {
      Span here{step * v, step * v};
      for (size_t s = 0; s < run.num_outer; ++s) {
        if (ranges[s].variable != axis.variable) continue;
        const Span& taps = ranges[s].spans[static_cast<size_t>(v)];
        const int64_t factor = c.x.index.factor(c.sums[s].variable);
        here.begin += factor * taps.begin;
        here.end += factor * (taps.end - 1);
      }
      all = all ? Span{std::min(all->begin, here.begin), std::max(all->end, here.end)} : here;
      const bool depends = std::ranges::any_of(
          ranges, [&](const SumRange& r) { return r.variable == axis.variable; });
      if (!depends && v == values.begin) v = std::max(v, values.end - 2);
    }
    if (all) add(all->begin, all->end);
  }
  for (size_t s = 0; s < run.num_outer; ++s) {
    if (!ranges[s].variable.empty()) continue;
    const int64_t factor = c.x.index.factor(c.sums[s].variable);
    add(factor * ranges[s].full.begin, factor * (ranges[s].full.end - 1));
  }
  return span;
}

// Merges sums from the innermost outward.
void merge_sums(const Contraction& c, const std::vector<SumRange>& ranges,
                const std::string& column, Run& run) {
  run.length = 1;
  run.num_outer = c.sums.size();
  while (run.num_outer > 0) {
    const size_t s = run.num_outer - 1;
    const SumRange& range = ranges[s];
    if (c.x.index.factor(c.sums[s].variable) != run.length) return;
    const bool varies = !range.variable.empty();
    if (varies && (range.variable != column || range.full.begin != 0)) return;
    if (!varies && range.full.begin != 0) return;
    run.num_outer = s;
    if (varies) {
      run.varying_sum = static_cast<int64_t>(s);
      run.varying_step = run.length;
    }
    run.length *= range.full.end;
    if (varies) return;
  }
}

std::vector<RunClass> classes_of(const Run& run, const std::vector<SumRange>& ranges,
                                 int64_t num_columns) {
  if (run.varying_sum < 0) return {{{0, num_columns}, {0, run.length}}};
  std::vector<RunClass> classes;
  const SumRange& range = ranges[static_cast<size_t>(run.varying_sum)];
  for (int64_t v = 0; v < num_columns; ++v) {
    const Span& taps = range.spans[static_cast<size_t>(v)];
    const Span elements{taps.begin * run.varying_step, taps.end * run.varying_step};
    if (classes.empty() || classes.back().elements != elements) {
      classes.push_back({{v, v}, elements});
    }
    classes.back().columns.end = v + 1;
  }
  return classes;
}

bool is_between_words(const RunClass& c, int64_t word) {
  return c.elements.begin % word == 0 && c.elements.end % word == 0;
}

// Sets where the last word of class `k` is. Where there are fewer elements than a word, it also
// covers neighbours: behind the run, or in front of it where x ends; the class is then cut in two.
bool place_last_word(const Contraction& c, const Run& run, const std::vector<SumRange>& ranges,
                     const std::string& column, int64_t num_elements, RunClass k,
                     std::vector<RunClass>& classes) {
  if (k.elements.length() <= 0) return false;
  k.last_offset = k.elements.end - run.word;
  if (k.elements.length() >= run.word) {
    classes.push_back(k);
    return true;
  }
  const Span columns = k.columns;
  for (int64_t v = columns.begin; v < columns.end; ++v) {
    const Span x = extremes(c, run, ranges, column, {v, v + 1});
    const bool forward = x.end + k.elements.begin + run.word <= num_elements;
    k.last_offset = forward ? k.elements.begin : k.elements.end - run.word;
    if (!forward && x.begin + k.last_offset < 0) return false;
    k.columns = {v, v + 1};
    const bool continues = v > columns.begin && classes.back().last_offset == k.last_offset;
    if (continues) {
      classes.back().columns.end = v + 1;
    } else {
      classes.push_back(k);
    }
  }
  return true;
}

}  // namespace

std::optional<int64_t> Run::element_at(int64_t number, int64_t lane) const {
  if (shares_words) return number * word + lane;
  const auto c = std::find_if(classes.rbegin(), classes.rend(),
                              [&](const RunClass& k) { return k.first_word <= number; });
  const int64_t j = number - c->first_word;
  const int64_t first = c->elements.begin + j * word;
  const bool last = j == c->num_words - 1;
  const int64_t element = (last ? c->last_offset : first) + lane;
  const bool inside = first <= element && element < c->elements.end;
  return inside ? std::optional(element) : std::nullopt;
}

std::optional<Run> find_run(const Contraction& c, const std::vector<SumRange>& ranges,
                            const std::string& column, int64_t num_elements, int64_t word) {
  Run run;
  run.word = word;
  merge_sums(c, ranges, column, run);
  if (run.num_outer == c.sums.size() || run.length < 1) return std::nullopt;
  for (const SumRange& range : ranges) {
    if (range.full.begin != 0) return std::nullopt;
  }
  const LoopRange* axis = c.find_outer(column);
  run.classes = classes_of(run, ranges, axis ? *axis->extent() : 1);
  run.shares_words = std::ranges::all_of(
      run.classes, [&](const RunClass& k) { return is_between_words(k, word); });
  std::vector<RunClass> classes;
  for (const RunClass& k : run.classes) {
    if (!place_last_word(c, run, ranges, column, num_elements, k, classes)) return std::nullopt;
  }
  run.classes = std::move(classes);
  for (RunClass& k : run.classes) {
    k.num_words = ceil_div(k.elements.length(), word);
    k.first_word = run.shares_words ? k.elements.begin / word : run.num_words;
    if (!run.shares_words) run.num_words += k.num_words;
  }
  if (run.shares_words) run.num_words = run.length / word;
  return run;
}

void set_run_variables(const Contraction& c, const Run& run, const std::vector<SumRange>& ranges,
                       int64_t element, std::map<std::string, int64_t>& at) {
  for (size_t s = c.sums.size(); s-- > run.num_outer;) {
    const int64_t extent = ranges[s].full.end;
    at[c.sums[s].variable] = element % extent;
    element /= extent;
  }
}

}  // namespace ingot
