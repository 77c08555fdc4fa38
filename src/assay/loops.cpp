// SPDX-License-Identifier: Apache-2.0
#include "assay/loops.h"

#include <algorithm>
#include <charconv>

namespace ingot::assay {
namespace {

// Words of a line: identifiers, numbers, quoted texts, single signs.
std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  const auto is_name = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  for (size_t i = 0; i < line.size();) {
    size_t end = i + 1;
    if (line[i] == ' ') {
      i = end;
      continue;
    }
    if (line[i] == '"') {
      while (end < line.size() && line[end] != '"') end += line[end] == '\\' ? 2U : 1U;
      end = std::min(end + 1, line.size());
    } else if (is_name(line[i])) {
      while (end < line.size() && is_name(line[end])) ++end;
    }
    words.push_back(line.substr(i, end - i));
    i = end;
  }
  return words;
}

std::optional<int64_t> number(std::string_view word) {
  int64_t n = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), n);
  if (error != std::errc() || end != word.data() + word.size()) return std::nullopt;
  return n;
}

std::optional<int64_t> bytes_of_type(std::string_view type) {
  static const std::map<std::string_view, int64_t> kBytes = {
      {"bool", 1},  {"int8", 1},   {"uint8", 1},   {"int16", 2}, {"uint16", 2}, {"float16", 2},
      {"int32", 4}, {"uint32", 4}, {"float32", 4}, {"int64", 8}, {"uint64", 8}, {"float64", 8}};
  const auto found = kBytes.find(type);
  if (found == kBytes.end()) return std::nullopt;
  return found->second;
}

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  std::variant<Loops, std::string> read() {
    int64_t line_number = 0;
    int64_t depth = 0;
    while (!text_.empty()) {
      const size_t end = std::min(text_.find('\n'), text_.size());
      const std::vector<std::string_view> words = words_of(text_.substr(0, end));
      text_.remove_prefix(std::min(end + 1, text_.size()));
      ++line_number;
      if (!words.empty() && !statement(words)) {
        return "line " + std::to_string(line_number) + " of the loop program is not understood";
      }
      for (const std::string_view word : words) depth += word == "{" ? 1 : word == "}" ? -1 : 0;
    }
    if (depth != 0 || !has_runner_) return "the loop program ends before its blocks do";
    return std::move(loops_);
  }

 private:
  using Words = std::vector<std::string_view>;

  bool statement(const Words& words) {
    if (words[0] == "buffer") return buffer(words);
    if (words[0] == "kernel") return kernel(words);
    if (words[0] == "function" || words[0] == "run") {
      has_runner_ = has_runner_ || (words[0] == "run" && words.back() == "{");
      params_ = nullptr;
      return true;
    }
    if (words[0] == "call") return call(words);
    if (params_) note_store(words);
    return true;
  }

  // buffer NAME TYPE [ N ] KIND align A (offset O)? (tie G T)? ...
  bool buffer(const Words& w) {
    if (w.size() < 9 || w[3] != "[" || w[5] != "]" || w[7] != "align") return false;
    const auto element = bytes_of_type(w[2]);
    const auto count = number(w[4]);
    const auto alignment = number(w[8]);
    if (!element || !count || *count < 0 || !alignment || *alignment < 1) return false;
    LoopBuffer b;
    b.name = w[1];
    b.kind = w[6];
    b.element_bytes = *element;
    if (__builtin_mul_overflow(*element, *count, &b.size_bytes)) return false;
    b.alignment = *alignment;
    size_t at = 9;
    if (at + 1 < w.size() && w[at] == "offset") {
      b.offset_bytes = number(w[at + 1]);
      if (!b.offset_bytes) return false;
      at += 2;
    }
    if (at + 2 < w.size() && w[at] == "tie") {
      const auto group = number(w[at + 1]);
      const auto offset = number(w[at + 2]);
      if (!group || !offset) return false;
      b.tie_group = *group;
      b.tie_offset_bytes = *offset;
    }
    loops_.buffers.push_back(std::move(b));
    return true;
  }

  // kernel NAME ( P : TYPE [ N ] ACCESS align A , ... ) "..." {
  bool kernel(const Words& w) {
    if (w.size() < 4 || w[2] != "(") return false;
    const auto [entry, is_new] = loops_.kernels.try_emplace(std::string(w[1]));
    if (!is_new) return false;
    params_ = &entry->second;
    size_t at = 3;
    while (at < w.size() && w[at] != ")" && w[at] != ";") {
      if (at + 8 >= w.size() || w[at + 1] != ":" || w[at + 3] != "[" || w[at + 7] != "align")
        return false;
      const auto element = bytes_of_type(w[at + 2]);
      const auto count = number(w[at + 4]);
      if (!element || !count) return false;
      const std::string_view access = w[at + 6];
      LoopParam p{std::string(w[at]), 0, access == "write" || access == "update", false};
      if (__builtin_mul_overflow(*element, *count, &p.size_bytes)) return false;
      params_->push_back(std::move(p));
      at += 9;
      if (at < w.size() && w[at] == ",") ++at;
    }
    return at < w.size();
  }

  // A statement that begins with NAME [ stores to NAME.
  void note_store(const Words& w) {
    if (w.size() < 2 || w[1] != "[") return;
    for (LoopParam& p : *params_) {
      if (p.name == w[0]) p.stores = true;
    }
  }

  // call NAME ( B (+ N)? , ... ) ...
  bool call(const Words& w) {
    if (w.size() < 4 || w[2] != "(") return false;
    LoopCall c{std::string(w[1]), {}};
    size_t at = 3;
    while (at < w.size() && w[at] != ")" && w[at] != ";") {
      LoopArg arg{std::string(w[at]), 0};
      ++at;
      if (at + 1 < w.size() && w[at] == "+") {
        const auto offset = number(w[at + 1]);
        if (!offset) return false;
        arg.offset_elements = *offset;
        at += 2;
      }
      c.args.push_back(std::move(arg));
      if (at < w.size() && w[at] == ",") ++at;
    }
    loops_.calls.push_back(std::move(c));
    return at < w.size();
  }

  std::string_view text_;
  Loops loops_;
  bool has_runner_ = false;
  std::vector<LoopParam>* params_ = nullptr;  // of the kernel being read
};

}  // namespace

std::variant<Loops, std::string> read_loops(std::string_view text) { return Reader(text).read(); }

}  // namespace ingot::assay
