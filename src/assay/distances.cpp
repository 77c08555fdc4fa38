// SPDX-License-Identifier: Apache-2.0
#include "assay/distances.h"

#include <algorithm>

namespace ingot::assay {
namespace {

// Of the parameters that are bound to `buffer`: whether one is written, and whether one is read.
struct Touch {
  bool writes = false;
  bool reads = false;
};

Touch touch_of(const Loops& loops, const LoopCall& call, const std::string& buffer) {
  Touch touch;
  const std::vector<LoopParam>& params = loops.kernels.at(call.kernel);
  for (size_t p = 0; p < params.size(); ++p) {
    if (call.args[p].buffer != buffer) continue;
    (params[p].says_it_writes ? touch.writes : touch.reads) = true;
  }
  return touch;
}

// `part` lies inside `whole`, which is tied to it.
bool is_part(const LoopBuffer& part, const LoopBuffer& whole) {
  return part.tie_group >= 0 && part.tie_group == whole.tie_group &&
         whole.tie_offset_bytes <= part.tie_offset_bytes &&
         part.tie_offset_bytes + part.size_bytes <= whole.tie_offset_bytes + whole.size_bytes;
}

}  // namespace

Distances::Distances(const Json& json) {
  for (const Json& d : json.array()) {
    Stated stated{d["output"].text(),     d["input"].text(),      d["step"].integer().value_or(-1),
                  d["forward"].integer(), d["reverse"].integer(), d["runs"].text()};
    by_pair_[{stated.output, stated.input}] = stated_.size();
    stated_.push_back(std::move(stated));
  }
}

std::string Distances::find_lie(const Loops& loops, const std::vector<Life>& lives,
                                bool reuse_inputs) const {
  std::map<std::string, const Life*> by_name;
  for (const Life& life : lives) by_name[life.buffer->name] = &life;
  std::map<int64_t, std::string> runs;
  for (const Stated& d : stated_) {
    const std::string pair = "the distance of " + d.output + " to " + d.input;
    const auto out = by_name.find(d.output);
    const auto in = by_name.find(d.input);
    if (out == by_name.end() || in == by_name.end()) return pair + " is of no arena buffers";
    if (d.step < 0 || d.step >= static_cast<int64_t>(loops.calls.size()))
      return pair + " is of no step";
    if (d.runs != "forward" && d.runs != "reverse") return pair + " has no direction";
    if (!runs.try_emplace(d.step, d.runs).second && runs[d.step] != d.runs)
      return pair + " has another direction than others of its step";
    if (out->second->begin != d.step || in->second->end != d.step + 1)
      return pair + " is of buffers that do not begin and end in its step";
    if (in->second->buffer->kind != "arena" &&
        !(in->second->buffer->kind == "input" && reuse_inputs))
      return pair + " would overwrite what must survive";
    const LoopCall& call = loops.calls[static_cast<size_t>(d.step)];
    const Touch output = touch_of(loops, call, d.output);
    const bool ends_there = std::ranges::any_of(lives, [&](const Life& whole) {
      const Touch input = touch_of(loops, call, whole.buffer->name);
      const bool is_it =
          whole.buffer == in->second->buffer || is_part(*in->second->buffer, *whole.buffer);
      return is_it && input.reads && !input.writes;
    });
    if (!output.writes || output.reads || !ends_there)
      return pair + " is of buffers that its step does not write and read";
  }
  return "";
}

const Distances::Stated* Distances::find(const LoopBuffer& output, const LoopBuffer& input) const {
  const auto found = by_pair_.find({output.name, input.name});
  return found == by_pair_.end() ? nullptr : &stated_[found->second];
}

bool Distances::allow(const LoopBuffer& a, const LoopBuffer& b) const {
  for (const auto& [output, input] : {std::pair(&a, &b), std::pair(&b, &a)}) {
    const Stated* d = find(*output, *input);
    if (d == nullptr) continue;
    const int64_t behind = *input->offset_bytes - *output->offset_bytes;
    if (d->runs == "forward" && d->forward && behind >= *d->forward) return true;
    if (d->runs == "reverse" && d->reverse && -behind >= *d->reverse) return true;
  }
  return false;
}

int64_t Distances::most_shared(const LoopBuffer& output, const LoopBuffer& input) const {
  const Stated* d = find(output, input);
  if (d == nullptr) return 0;
  const int64_t out = output.size_bytes;
  const int64_t in = input.size_bytes;
  // With the input `behind` bytes behind the output's start.
  const auto shared = [&](int64_t behind) {
    return std::max<int64_t>(0, std::min(out, behind + in) - std::max<int64_t>(0, behind));
  };
  int64_t most = 0;
  if (d->forward) most = shared(std::max(*d->forward, std::min<int64_t>(0, out - in)));
  if (d->reverse)
    most = std::max(most, shared(std::min(-*d->reverse, std::max<int64_t>(0, out - in))));
  return most;
}

}  // namespace ingot::assay
