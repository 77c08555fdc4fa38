// SPDX-License-Identifier: Apache-2.0
#include "assay/distances.h"

#include <algorithm>
#include <optional>
#include <string>

#include "assay/code.h"

namespace ingot::assay {
namespace {

std::string title_of(const std::string& output, const std::string& input, int64_t step) {
  return "the distance of " + output + " to " + input + " in step " + std::to_string(step);
}

Pair make_pair(const Layout& layout, size_t output, size_t input, int64_t step) {
  const Least apart = {layout.lives[output].buffer->size_bytes,
                       layout.lives[input].buffer->size_bytes};
  return {.output = output, .input = input, .step = step, .apart = apart};
}

void add_stated(const Layout& layout, const Json& json, Pairs& pairs) {
  const int64_t step = json["step"].integer().value_or(-1);
  const std::string title = title_of(json["output"].text(), json["input"].text(), step);
  const auto out = layout.by_name.find(json["output"].text());
  const auto in = layout.by_name.find(json["input"].text());
  const auto end = layout.by_name.end();
  refuse_if(out == end || in == end || !layout.lives[out->second].region ||
                !layout.lives[in->second].region,
            {title, " is of no arena buffers"});
  refuse_if(step < 0 || step >= std::ssize(pairs), {title, " is of no step"});
  const Life& dies = layout.lives[in->second];
  refuse_if(layout.lives[out->second].begin != step || dies.end != step + 1,
            {title, " is of buffers that do not begin and end in its step"});
  refuse_if(dies.is_kept, {title, " would overwrite what must survive"});
  bool is_written = false;
  bool is_read = false;
  for (const auto& [life, use] : layout.uses[static_cast<size_t>(step)]) {
    is_written |= use.only_writes() && life == out->second;
    is_read |= use.only_reads() && std::ranges::count(layout.parts[life], in->second);
  }
  refuse_if(!is_written || !is_read,
            {title, " is of buffers that its step does not write and read"});
  Pair pair = make_pair(layout, out->second, in->second, step);
  pair.is_stated = true;
  pair.stated = {json["forward"].integer().value_or(pair.apart[kForward]),
                 json["reverse"].integer().value_or(pair.apart[kReverse])};
  pair.runs = json["runs"].text() == "forward" ? kForward : kReverse;
  refuse_if(pair.runs != kForward && json["runs"].text() != "reverse",
            {title, " has no direction"});
  refuse_if(find_stated(layout, pairs, pair.output, pair.input), {title, " is stated twice"});
  std::vector<Pair>& others = pairs[static_cast<size_t>(step)];
  refuse_if(!others.empty() && others.front().runs != pair.runs,
            {title, " has another direction than others of its step"});
  others.push_back(pair);
}

// C lets them lie in one place.
bool may_share(const Buffer& a, const Buffer& b) {
  return may_stand_in(a.element, b.element) || may_stand_in(b.element, a.element);
}

void add_others(const Layout& layout, size_t call, Pairs& pairs) {
  for (const auto& [output, out] : layout.uses[call]) {
    for (const auto& [input, in] : layout.uses[call]) {
      const Life& y = layout.lives[output];
      const Life& x = layout.lives[input];
      if (out.only_writes() && in.only_reads() && y.region && x.region &&
          may_share(*y.buffer, *x.buffer) && !find_stated(layout, pairs, output, input))
        pairs[call].push_back(make_pair(layout, output, input, static_cast<int64_t>(call)));
    }
  }
}

// Whether two that share bytes may do so.
bool allows(const Layout& layout, const Pairs& pairs, size_t output, size_t input) {
  const Pair* pair = find_stated(layout, pairs, output, input);
  const Buffer& y = *layout.lives[output].buffer;
  const Buffer& x = *layout.lives[input].buffer;
  if (pair == nullptr || !may_share(x, y)) return false;
  const int64_t behind = *x.offset_bytes - *y.offset_bytes;
  return (pair->runs == kForward ? behind : -behind) >= pair->stated[pair->runs];
}

// The run has seen offsets; with one byte more than the greatest between them they are safe.
int64_t least_safe(std::optional<int64_t> seen, int64_t before, int64_t after) {
  return seen ? std::clamp(*seen + 1, -before, after) : -before;
}

// As the call runs, the least distance is `now`.
void check(const Layout& layout, const Pair& pair, int64_t now) {
  const Buffer& y = *layout.lives[pair.output].buffer;
  const Buffer& x = *layout.lives[pair.input].buffer;
  const std::string title = title_of(y.name, x.name, pair.step);
  refuse_if(pair.stated[pair.runs] < now, {title, " is ", std::to_string(pair.stated[pair.runs]),
                                           ", but the run needs ", std::to_string(now)});
  if (y.tie_group >= 0 || x.tie_group >= 0) return;
  for (const Direction d : {kForward, kReverse}) {
    const bool is_left_out = d != pair.runs && pair.stated[d] == pair.apart[d];
    refuse_if(
        !is_left_out && pair.stated[d] > pair.needed[d],
        {title, d == pair.runs ? " is " : ", turned round, is ", std::to_string(pair.stated[d]),
         ", but ", std::to_string(pair.needed[d]), " is enough"});
  }
  refuse_if(most_shared(pair.stated, pair.apart) < most_shared(pair.needed, pair.apart),
            {title, " leaves out the direction in which more can be shared"});
}

}  // namespace

std::span<const Pair> pairs_of(const Pairs& pairs, int64_t call) {
  if (call < 0 || call >= std::ssize(pairs)) return {};
  return pairs[static_cast<size_t>(call)];
}

const Pair* find_stated(const Layout& layout, const Pairs& pairs, size_t output, size_t input) {
  for (const Pair& pair : pairs_of(pairs, layout.lives[output].begin)) {
    if (pair.is_stated && pair.output == output && pair.input == input) return &pair;
  }
  return nullptr;
}

int64_t most_shared(const Least& least, const Least& apart) {
  const auto [output, input] = apart;
  // With the one's start `behind` bytes behind that of the other, of `first` bytes.
  const auto shared = [](int64_t behind, int64_t first, int64_t second) {
    behind = std::clamp(behind, std::min<int64_t>(0, first - second), first);
    return std::min(first, behind + second) - std::max<int64_t>(0, behind);
  };
  return std::max(shared(least[kForward], output, input), shared(least[kReverse], input, output));
}

Pairs read_pairs(const Layout& layout) {
  const Json& plan = layout.json["plan"];
  const bool may_overlap = says(plan["within"]["overlap"]);
  Pairs pairs(layout.uses.size());
  for (const Json& d : plan["distances"].array()) {
    refuse_if(!may_overlap, {"distances are stated where no overlap is allowed"});
    add_stated(layout, d, pairs);
  }
  for (size_t c = 0; may_overlap && c < pairs.size(); ++c) add_others(layout, c, pairs);
  return pairs;
}

void check_places(const Layout& layout, const Pairs& pairs) {
  sweep(layout, select(layout, &Life::takes_space),
        [&](size_t i, const std::vector<size_t>& alive) {
          const Life& life = layout.lives[i];
          const Buffer& b = *life.buffer;
          for (const size_t j : alive) {
            const Life& other = layout.lives[j];
            const Buffer& a = *other.buffer;
            const bool share = other.region == life.region &&
                               *a.offset_bytes < *b.offset_bytes + b.size_bytes &&
                               *b.offset_bytes < *a.offset_bytes + a.size_bytes;
            refuse_if(share && other.unit != life.unit && !allows(layout, pairs, i, j) &&
                          !allows(layout, pairs, j, i),
                      {a.name, " and ", b.name, " are alive together and share bytes"});
          }
        });
}

std::vector<Distance> wanted_distances(const Layout& layout, const Pairs& pairs) {
  std::vector<Distance> wanted;
  for (const std::vector<Pair>& of_call : pairs) {
    for (const Pair& pair : of_call) {
      wanted.push_back({layout.lives[pair.output].buffer->name,
                        layout.lives[pair.input].buffer->name, pair.step});
    }
  }
  return wanted;
}

void set_needed(const Layout& layout, const std::vector<Distance>& seen, Pairs& pairs) {
  auto next = seen.begin();
  for (std::vector<Pair>& of_call : pairs) {
    for (Pair& pair : of_call) {
      const Distance& d = *next++;
      const Life& out = layout.lives[pair.output];
      const Life& in = layout.lives[pair.input];
      if (in.is_kept) continue;
      const auto [y, x] = pair.apart;
      const Least now = {least_safe(d.forward, x, y), least_safe(d.reverse, y, x)};
      pair.needed = {std::min(now[kForward], least_safe(d.turned_forward, x, y)),
                     std::min(now[kReverse], least_safe(d.turned_reverse, y, x))};
      if (out.begin == pair.step && in.end == pair.step + 1) check(layout, pair, now[pair.runs]);
    }
  }
}

}  // namespace ingot::assay
