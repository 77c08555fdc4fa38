// SPDX-License-Identifier: Apache-2.0
// The text of a file to be written: held as a string, or made in pieces each time it is asked for,
// because it is several times as large as what it is made from (the decimals of 100 MB of weights).
#pragma once
#include <concepts>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

namespace ingot {

class FileText {
 public:
  using Sink = std::function<void(std::string_view piece)>;
  // Passes the same pieces to the sink at every call. It owns what it needs for that.
  using Source = std::function<void(const Sink& sink)>;

  FileText() = default;
  template <std::convertible_to<std::string> Text>
  FileText(Text&& text) : text_(std::forward<Text>(text)) {}
  explicit FileText(Source source) : source_(std::move(source)) {}

  void write_to(const Sink& sink) const {
    if (source_) return source_(sink);
    sink(text_);
  }
  // All of it at once, for texts that are known to be small.
  std::string str() const {
    if (!source_) return text_;
    std::string text;
    source_([&](std::string_view piece) { text += piece; });
    return text;
  }

 private:
  std::string text_;
  Source source_;
};

}  // namespace ingot
