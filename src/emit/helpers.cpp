// SPDX-License-Identifier: Apache-2.0
#include "emit/helpers.h"

#include <map>

#include "emit/helpers_text.h"
#include "support/check.h"

namespace ingot {
namespace {

using Helpers = std::map<std::string, std::string_view, std::less<>>;

// The identifier before the first parenthesis of a function's text (its comment has none in front
// of the name, because the comment ends before `static`).
std::string name_of_function(std::string_view text) {
  const size_t begin_of_code = text.find("static ");
  CHECK(begin_of_code != std::string_view::npos);
  const size_t end = text.find('(', begin_of_code);
  const size_t begin = text.rfind(' ', end) + 1;
  return std::string(text.substr(begin, end - begin));
}

// helpers.c cut at its blank lines; the parts that hold a function.
Helpers read_helpers() {
  Helpers helpers;
  std::string_view rest = kHelpersText;
  while (!rest.empty()) {
    const size_t end = rest.find("\n\n");
    const std::string_view part = rest.substr(0, end);
    if (part.find("static ") != std::string_view::npos) {
      helpers.emplace(name_of_function(part), part);
    }
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 2);
  }
  return helpers;
}

const Helpers& helpers() {
  static const Helpers result = read_helpers();
  return result;
}

}  // namespace

std::vector<std::string> all_helpers() {
  std::vector<std::string> names;
  for (const auto& [name, text] : helpers()) names.push_back(name);
  return names;
}

std::string_view helper_text(std::string_view name) {
  const auto found = helpers().find(name);
  CHECK(found != helpers().end());
  std::string_view text = found->second;
  while (text.ends_with('\n')) text.remove_suffix(1);
  return text;
}

}  // namespace ingot
