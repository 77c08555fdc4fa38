// SPDX-License-Identifier: Apache-2.0
#include "assay/distances.h"

#include <algorithm>

#include "assay/code.h"
#include "assay/intervals.h"

namespace ingot::assay {
namespace {

// The run has seen offsets; with one byte more than the greatest between them they are safe.
int64_t least_safe(std::optional<int64_t> seen, int64_t before, int64_t after) {
  return seen ? std::clamp(*seen + 1, -before, after) : -before;
}

}  // namespace

int64_t most_shared(const Least& least, int64_t output, int64_t input, int64_t cell_bytes) {
  // With the one's start `behind` cells behind that of the other, of `first` cells.
  const auto shared = [&](const std::optional<int64_t>& distance, int64_t first, int64_t second) {
    if (!distance) return int64_t{0};
    const int64_t behind =
        std::clamp(-floor_div(-*distance, cell_bytes), std::min<int64_t>(0, first - second), first);
    return std::max<int64_t>(0, std::min(first, behind + second) - std::max<int64_t>(0, behind));
  };
  return std::max(shared(least[kForward], output, input), shared(least[kReverse], input, output));
}

Distances::Distances(const Layout& layout) : layout_(layout) {
  const Json& plan = layout.json["plan"];
  const bool may_overlap = says(plan["within"]["overlap"]);
  for (const Json& d : plan["distances"].array()) add_stated(d);
  refuse_if(!may_overlap && !pairs_.empty(), {"distances are stated where no overlap is allowed"});
  for (size_t c = 0; may_overlap && c < layout.uses.size(); ++c) add_others(c);
}

void Distances::add_stated(const Json& json) {
  const std::string output = json["output"].text();
  const std::string input = json["input"].text();
  const std::string title = "the distance of " + output + " to " + input;
  const auto out = layout_.by_name.find(output);
  const auto in = layout_.by_name.find(input);
  const auto end = layout_.by_name.end();
  refuse_if(out == end || in == end || !layout_.lives[out->second].region ||
                !layout_.lives[in->second].region,
            {title, " is of no arena buffers"});
  const Pair pair{.output = out->second,
                  .input = in->second,
                  .step = json["step"].integer().value_or(-1),
                  .is_stated = true,
                  .stated = {json["forward"].integer(), json["reverse"].integer()}};
  const Direction runs = json["runs"].text() == "forward" ? kForward : kReverse;
  refuse_if(runs != kForward && json["runs"].text() != "reverse", {title, " has no direction"});
  refuse_if(!stated_.emplace(std::pair(pair.output, pair.input), pairs_.size()).second,
            {title, " is stated twice"});
  refuse_if(runs_.emplace(pair.step, runs).first->second != runs,
            {title, " has another direction than others of its step"});
  refuse_if(pair.step < 0 || pair.step >= std::ssize(layout_.uses), {title, " is of no step"});
  const Life& dies = layout_.lives[pair.input];
  refuse_if(layout_.lives[pair.output].begin != pair.step || dies.end != pair.step + 1,
            {title, " is of buffers that do not begin and end in its step"});
  refuse_if(dies.is_kept, {title, " would overwrite what must survive"});
  bool is_written = false;
  bool is_read = false;
  for (const Use& use : layout_.uses[static_cast<size_t>(pair.step)]) {
    is_written |= use.writes && !use.reads && use.life == pair.output;
    is_read |= use.reads && !use.writes && std::ranges::count(layout_.parts[use.life], pair.input);
  }
  refuse_if(!is_written || !is_read,
            {title, " is of buffers that its step does not write and read"});
  pairs_.push_back(pair);
}

void Distances::add_others(size_t call) {
  for (const Use& out : layout_.uses[call]) {
    for (const Use& in : layout_.uses[call]) {
      const Life& y = layout_.lives[out.life];
      const Life& x = layout_.lives[in.life];
      const bool is_pair = out.writes && !out.reads && in.reads && !in.writes;
      if (is_pair && y.region && x.region && may_share(*y.buffer, *x.buffer) &&
          find(out.life, in.life) == nullptr)
        pairs_.push_back(
            {.output = out.life, .input = in.life, .step = static_cast<int64_t>(call)});
    }
  }
}

const Pair* Distances::find(size_t output, size_t input) const {
  const auto found = stated_.find({output, input});
  return found == stated_.end() ? nullptr : &pairs_[found->second];
}

std::optional<Direction> Distances::direction_of(int64_t step) const {
  const auto found = runs_.find(step);
  return found == runs_.end() ? std::optional<Direction>() : found->second;
}

bool Distances::allow(size_t a, size_t b) const {
  const Buffer& x = *layout_.lives[a].buffer;
  const Buffer& y = *layout_.lives[b].buffer;
  if (x.tie_group >= 0 && x.tie_group == y.tie_group) return true;
  for (const bool a_is_output : {true, false}) {
    const Pair* pair = a_is_output ? find(a, b) : find(b, a);
    if (pair == nullptr || !may_share(x, y)) continue;
    const Direction runs = runs_.at(pair->step);
    const bool is_behind = (runs == kForward) == a_is_output;  // b
    const int64_t behind = (*y.offset_bytes - *x.offset_bytes) * (is_behind ? 1 : -1);
    if (pair->stated[runs] && behind >= *pair->stated[runs]) return true;
  }
  return false;
}

void Distances::check_places() const {
  const auto all = select(layout_, [](const Life& life) { return life.takes_space(); });
  sweep(layout_.lives, all, [&](size_t i, const std::vector<size_t>& alive) {
    const Buffer& b = *layout_.lives[i].buffer;
    for (const size_t j : alive) {
      const Buffer& a = *layout_.lives[j].buffer;
      refuse_if(layout_.lives[j].region == layout_.lives[i].region &&
                    *a.offset_bytes < *b.offset_bytes + b.size_bytes &&
                    *b.offset_bytes < *a.offset_bytes + a.size_bytes && !allow(j, i),
                {a.name, " and ", b.name, " are alive together and share bytes"});
    }
  });
}

std::vector<Distance> Distances::wanted() const {
  std::vector<Distance> wanted;
  for (const Pair& pair : pairs_) {
    wanted.push_back({layout_.lives[pair.output].buffer->name,
                      layout_.lives[pair.input].buffer->name, pair.step});
  }
  return wanted;
}

void Distances::set_needed(const std::vector<Distance>& seen) {
  for (size_t p = 0; p < pairs_.size(); ++p) {
    Pair& pair = pairs_[p];
    const int64_t y = layout_.lives[pair.output].buffer->size_bytes;
    const int64_t x = layout_.lives[pair.input].buffer->size_bytes;
    const Distance& d = seen[p];
    const Least forward = {least_safe(d.forward, x, y), least_safe(d.turned_reverse, y, x)};
    const Least reverse = {least_safe(d.turned_forward, x, y), least_safe(d.reverse, y, x)};
    const std::optional<Direction> runs = direction_of(pair.step);
    pair.needed = runs == kReverse ? reverse : forward;
    check(pair, runs.value_or(kForward));
    if (layout_.lives[pair.input].is_kept)
      pair.needed = {};
    else if (!runs)
      pair.needed = {std::min(forward[0], reverse[0]), std::min(forward[1], reverse[1])};
  }
}

void Distances::check(const Pair& pair, Direction runs) const {
  const Life& out = layout_.lives[pair.output];
  const Life& in = layout_.lives[pair.input];
  if (out.begin != pair.step || in.end != pair.step + 1 || in.is_kept) return;
  const int64_t y = out.buffer->size_bytes;
  const int64_t x = in.buffer->size_bytes;
  const bool is_tied = out.buffer->tie_group >= 0 || in.buffer->tie_group >= 0;
  const std::string title = title_of(pair);
  for (const Direction d : {kForward, kReverse}) {
    const int64_t needed = *pair.needed[d];
    const int64_t apart = d == kForward ? y : x;  // they do not overlap
    const int64_t is = pair.stated[d].value_or(d == runs ? apart : needed);
    const std::string said = (d == runs ? " is " : ", turned round, is ") + std::to_string(is);
    refuse_if(d == runs && is < needed,
              {title, said, ", but the run needs ", std::to_string(needed)});
    refuse_if(!is_tied && is > needed,
              {title, said, ", but ", std::to_string(needed), " is enough"});
  }
  refuse_if(!is_tied && most_shared(pair.stated, y, x, 1) < most_shared(pair.needed, y, x, 1),
            {title, " leaves out the direction in which more can be shared"});
}

std::string Distances::title_of(const Pair& pair) const {
  return "the distance of " + layout_.lives[pair.output].buffer->name + " to " +
         layout_.lives[pair.input].buffer->name + " in step " + std::to_string(pair.step);
}

}  // namespace ingot::assay
