// SPDX-License-Identifier: Apache-2.0
#include "assay/distances.h"

#include <algorithm>

#include "assay/code.h"

namespace ingot::assay {
namespace {

std::string title_of(const std::string& output, const std::string& input) {
  return "the distance of " + output + " to " + input;
}

bool share_bytes(const Buffer& a, const Buffer& b) {
  return *a.offset_bytes < *b.offset_bytes + b.size_bytes &&
         *b.offset_bytes < *a.offset_bytes + a.size_bytes;
}

int64_t ceil_div(int64_t a, int64_t b) { return a / b + (a % b > 0 ? 1 : 0); }

std::map<std::string, const Life*> by_name(const std::vector<Life>& lives) {
  std::map<std::string, const Life*> found;
  for (const Life& life : lives) found[life.buffer->name] = &life;
  return found;
}

}  // namespace

// The run has seen addresses; with one byte more than the greatest between them they are safe.
Least least_seen(const Distance& seen, const Buffer& output, const Buffer& input, Direction runs) {
  const int64_t behind = *input.offset_bytes - *output.offset_bytes;
  const auto least = [](std::optional<int64_t> greatest, int64_t moved, int64_t before,
                        int64_t after) {
    return greatest ? std::clamp(*greatest + moved + 1, -before, after) : -before;
  };
  const bool forward = runs == kForward;
  return {least(forward ? seen.forward : seen.turned_forward, behind, input.size_bytes,
                output.size_bytes),
          least(forward ? seen.turned_reverse : seen.reverse, -behind, output.size_bytes,
                input.size_bytes)};
}

int64_t most_shared(const Least& least, int64_t output, int64_t input, int64_t cell_bytes) {
  // With the one's start `behind` cells behind that of the other, of `first` cells.
  const auto shared = [&](const std::optional<int64_t>& distance, int64_t first, int64_t second) {
    if (!distance) return int64_t{0};
    const int64_t behind =
        std::clamp(ceil_div(*distance, cell_bytes), std::min<int64_t>(0, first - second), first);
    return std::max<int64_t>(0, std::min(first, behind + second) - std::max<int64_t>(0, behind));
  };
  return std::max(shared(least[kForward], output, input), shared(least[kReverse], input, output));
}

Distances::Distances(const Json& json) {
  for (const Json& d : json.array()) {
    const std::string runs = d["runs"].text();
    const Stated stated{d["output"].text(), d["input"].text(), d["step"].integer().value_or(-1),
                        Least{d["forward"].integer(), d["reverse"].integer()},
                        runs == "forward" ? kForward : kReverse};
    const std::string title = title_of(stated.output, stated.input);
    if (runs != "forward" && runs != "reverse") throw Lie(title + " has no direction");
    if (!by_pair_.emplace(std::pair(stated.output, stated.input), stated_.size()).second)
      throw Lie(title + " is stated twice");
    if (runs_.emplace(stated.step, stated.runs).first->second != stated.runs)
      throw Lie(title + " has another direction than others of its step");
    stated_.push_back(stated);
  }
}

const Distances::Stated* Distances::find(const Buffer& output, const Buffer& input) const {
  const auto found = by_pair_.find({output.name, input.name});
  return found == by_pair_.end() ? nullptr : &stated_[found->second];
}

std::optional<Direction> Distances::direction_of(int64_t step) const {
  const auto found = runs_.find(step);
  return found == runs_.end() ? std::optional<Direction>() : found->second;
}

void Distances::check(const std::vector<Touches>& touches, const std::vector<Life>& lives,
                      const Claims& claims) const {
  if (!claims.overlap && !stated_.empty())
    throw Lie("distances are stated where no overlap is allowed");
  const std::map<std::string, const Life*> planned = by_name(lives);
  for (const Stated& d : stated_) {
    const std::string title = title_of(d.output, d.input);
    const auto out = planned.find(d.output);
    const auto in = planned.find(d.input);
    if (out == planned.end() || in == planned.end()) throw Lie(title + " is of no arena buffers");
    if (d.step < 0 || d.step >= static_cast<int64_t>(touches.size()))
      throw Lie(title + " is of no step");
    if (out->second->begin != d.step || in->second->end != d.step + 1)
      throw Lie(title + " is of buffers that do not begin and end in its step");
    const Buffer& input = *in->second->buffer;
    if (is_kept(input, claims)) throw Lie(title + " would overwrite what must survive");
    bool is_written = false;
    bool is_read = false;
    for (const auto& [name, touch] : touches[static_cast<size_t>(d.step)]) {
      if (!planned.contains(name)) continue;
      is_written |= touch.only_writes() && name == d.output;
      is_read |= touch.only_reads() && contains(*planned.at(name)->buffer, input);
    }
    if (!is_written || !is_read)
      throw Lie(title + " is of buffers that its step does not write and read");
  }
}

bool Distances::allow(const Buffer& a, const Buffer& b) const {
  if (a.tie_group >= 0 && a.tie_group == b.tie_group) return true;
  for (const auto& [output, input] : {std::pair(&a, &b), std::pair(&b, &a)}) {
    const Stated* d = find(*output, *input);
    if (d == nullptr || !d->least[d->runs] || !may_share(a, b)) continue;
    const int64_t behind = *input->offset_bytes - *output->offset_bytes;
    if ((d->runs == kForward ? behind : -behind) >= *d->least[d->runs]) return true;
  }
  return false;
}

void Distances::check_pairs(std::vector<Life> lives) const {
  std::erase_if(lives, [](const Life& life) { return !life.takes_space(); });
  std::ranges::stable_sort(lives, {}, &Life::begin);
  std::vector<Life> alive;
  for (const Life& life : lives) {
    std::erase_if(alive, [&](const Life& other) { return other.end <= life.begin; });
    for (const Life& other : alive) {
      if (share_bytes(*other.buffer, *life.buffer) && !allow(*other.buffer, *life.buffer))
        throw Lie(other.buffer->name + " and " + life.buffer->name +
                  " are alive together and share bytes");
    }
    alive.push_back(life);
  }
}

std::vector<Distance> Distances::wanted(const std::vector<Touches>& touches,
                                        const std::vector<Life>& lives) const {
  std::vector<Distance> wanted;
  for (const Stated& d : stated_) wanted.push_back({d.output, d.input, d.step});
  const std::map<std::string, const Life*> planned = by_name(lives);
  for (size_t c = 0; c < touches.size(); ++c) {
    for (const auto& [output, of_output] : touches[c]) {
      if (!of_output.only_writes() || !planned.contains(output)) continue;
      for (const auto& [input, of_input] : touches[c]) {
        if (!of_input.only_reads() || !planned.contains(input)) continue;
        const Buffer& y = *planned.at(output)->buffer;
        const Buffer& x = *planned.at(input)->buffer;
        const auto step = static_cast<int64_t>(c);
        const Stated* d = find(y, x);
        if (may_share(y, x) && (d == nullptr || d->step != step))
          wanted.push_back({output, input, step});
      }
    }
  }
  return wanted;
}

void Distances::check_against(const std::vector<Distance>& derived, const std::vector<Life>& lives,
                              const Claims& claims) const {
  const std::map<std::string, const Life*> planned = by_name(lives);
  for (const Distance& seen : derived) {
    const Life& out = *planned.at(seen.output);
    const Life& in = *planned.at(seen.input);
    const Buffer& output = *out.buffer;
    const Buffer& input = *in.buffer;
    const bool tied = output.tie_group >= 0 || input.tie_group >= 0;
    const bool meets = out.begin == seen.step && in.end == seen.step + 1;
    if (!meets || is_kept(input, claims)) continue;
    const Stated* stated = find(output, input);
    const Direction runs = direction_of(seen.step).value_or(kForward);
    const Least least = least_seen(seen, output, input, runs);
    for (const Direction d : {kForward, kReverse}) {
      // At this distance they do not overlap.
      const int64_t apart = d == kForward ? output.size_bytes : input.size_bytes;
      const int64_t is =
          (stated ? stated->least[d] : std::nullopt).value_or(d == runs ? apart : *least[d]);
      const std::string title = title_of(seen.output, seen.input) + " in step " +
                                std::to_string(seen.step) + (d == runs ? "" : ", turned round,") +
                                " is " + std::to_string(is);
      if (d == runs && is < *least[d])
        throw Lie(title + ", but the run needs " + std::to_string(*least[d]));
      if ((claims.optimal || claims.packing_optimal) && !tied && is > *least[d])
        throw Lie(title + " where " + std::to_string(*least[d]) +
                  " is enough, and still the plan is called optimal");
    }
  }
}

}  // namespace ingot::assay
