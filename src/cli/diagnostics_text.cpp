// SPDX-License-Identifier: Apache-2.0
#include "cli/diagnostics_text.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

#include "report/json_text.h"

namespace ingot::cli {
namespace {

struct Style {
  std::string_view word;
  std::string_view colour;
};

Style style_of(Severity severity) {
  switch (severity) {
    case Severity::kError:
      return {"error", "\033[1;31m"};
    case Severity::kWarning:
      return {"warning", "\033[1;35m"};
    case Severity::kNote:
      return {"note", "\033[1;36m"};
  }
  return {};
}

}  // namespace

std::string diagnostics_text(const Diagnostics& diagnostics, bool colour) {
  const std::string bold = colour ? "\033[1m" : "";
  const std::string reset = colour ? "\033[0m" : "";
  std::string text;
  for (const Diagnostic& d : diagnostics) {
    const Style style = style_of(d.severity);
    text += (colour ? std::string(style.colour) : "") + std::string(style.word) + ": " + reset;
    if (!d.where.empty()) text += bold + d.where + ": " + reset;
    text += d.what + " [" + std::string(spelling(d.code)) + "]\n";
    for (const std::string& note : d.notes) text += "  " + note + "\n";
    if (!d.hint.empty()) text += "  " + bold + "hint: " + reset + d.hint + "\n";
  }
  return text;
}

std::string diagnostics_json(const Diagnostics& diagnostics) {
  Json list = Json::array();
  for (const Diagnostic& d : diagnostics) {
    list.push_back({{"severity", style_of(d.severity).word},
                    {"code", spelling(d.code)},
                    {"where", d.where},
                    {"what", d.what},
                    {"notes", d.notes},
                    {"hint", d.hint}});
  }
  return to_text({{"schema_version", 1}, {"diagnostics", std::move(list)}});
}

std::string counted(int64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

bool errors_have_colour() {
  const char* no_colour = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  const bool refused = no_colour != nullptr && *no_colour != '\0';
  const bool dumb = terminal == nullptr || std::string_view(terminal) == "dumb";
  return !refused && !dumb && ::isatty(STDERR_FILENO) == 1;
}

}  // namespace ingot::cli
