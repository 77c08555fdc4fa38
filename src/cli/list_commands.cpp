// SPDX-License-Identifier: Apache-2.0
// ingot ops, targets and explain: what this version knows.
#include <fmt/format.h>

#include <memory>

#include "cli/application.h"
#include "cli/nearest.h"
#include "driver/operators.h"
#include "report/json_text.h"
#include "target/target.h"
#include "toolchain/board.h"

namespace ingot::cli {
namespace {

struct ListArguments {
  bool json = false;
  bool markdown = false;
};

std::string operators_json() {
  Json operators = Json::array();
  for (const OperatorSummary& op : operator_summaries()) {
    operators.push_back({{"name", op.name}, {"element_types", op.types}, {"limits", op.limits}});
  }
  return to_text(
      {{"schema_version", 1}, {"operators", std::move(operators)}, {"tflite", tflite_operators()}});
}

std::string operators_text() {
  std::string text;
  for (const OperatorSummary& op : operator_summaries()) {
    text += fmt::format("{:<20} {}\n", op.name, fmt::join(op.types, ", "));
    for (const std::string& limit : op.limits) text += "    " + limit + "\n";
  }
  text += "\nread from .tflite files:\n";
  for (const std::string& name : tflite_operators()) text += "    " + name + "\n";
  return text;
}

// Where programs for a target are run: "host", a machine or a program of QEMU, or nowhere here.
std::string machine_of(const Target& target) {
  const toolchain::Board* board = toolchain::find_board(target.name);
  if (board == nullptr) return "";
  if (!board->emulator.empty()) {
    return std::string(board->is_host() ? board->emulator : board->machine);
  }
  return toolchain::missing_feature(*board).empty() ? "host" : "";
}

std::string targets_json() {
  Json targets = Json::array();
  for (const Target& target : all_targets()) {
    const std::string machine = machine_of(target);
    targets.push_back({{"name", target.name},
                       {"description", target.description},
                       {"compile_flags", target.compile_flags},
                       {"runs_on", machine.empty() ? Json() : Json(machine)}});
  }
  return to_text({{"schema_version", 1}, {"targets", std::move(targets)}});
}

std::string targets_text() {
  std::string text;
  for (const Target& target : all_targets()) {
    const std::string machine = machine_of(target);
    std::string where = machine.empty() ? "built only" : "runs on " + machine;
    if (machine != "host" && !machine.empty()) where += " (emulated)";
    text += fmt::format("{:<20} {}; {}\n", target.name, target.description, where);
  }
  return text;
}

std::string codes_text() {
  std::string text;
  for (const Code code : all_codes()) text += std::string(spelling(code)) + "\n";
  return text;
}

// `text` in lines of at most 80 columns.
std::string wrapped(std::string_view text) {
  constexpr size_t kColumns = 80;
  std::string lines;
  std::string line;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(word.size() + 1, text.size()));
    if (!line.empty() && line.size() + 1 + word.size() > kColumns) {
      lines += line + "\n";
      line.clear();
    }
    if (!line.empty()) line += ' ';
    line += word;
  }
  return lines + line + "\n";
}

int explain(const Session& session, const std::string& text) {
  if (text.empty()) {
    fmt::print("{}", codes_text());
    return kDone;
  }
  const std::optional<Code> code = find_code(text);
  if (!code) {
    std::vector<std::string> codes;
    for (const Code known : all_codes()) codes.emplace_back(spelling(known));
    const std::string hint = did_you_mean(text, codes);
    return report_usage(session, "there is no diagnostic " + quote(text),
                        hint.empty() ? "`ingot explain` without a code lists them" : hint);
  }
  fmt::print("{}\n\n{}", text, wrapped(explanation(*code)));
  return kDone;
}

}  // namespace

void add_ops_command(CLI::App& app, Session& session) {
  CLI::App* command = app.add_subcommand("ops", "list the operators and their limits");
  const auto arguments = std::make_shared<ListArguments>();
  command->footer(R"(Examples:
  ingot ops
  ingot ops --json | jq -r '.operators[].name'
  ingot ops --markdown > docs/supported_operators.md
)");
  CLI::Option* json = command->add_flag("--json", arguments->json, "as JSON");
  command->add_flag("--markdown", arguments->markdown, "as the page of the documentation")
      ->excludes(json);
  command->callback([arguments, &session] {
    session.action = [arguments] {
      fmt::print("{}", arguments->json       ? operators_json()
                       : arguments->markdown ? operators_markdown()
                                             : operators_text());
      return kDone;
    };
  });
}

void add_targets_command(CLI::App& app, Session& session) {
  CLI::App* command = app.add_subcommand("targets", "list the targets");
  const auto arguments = std::make_shared<ListArguments>();
  command->footer("Examples:\n  ingot targets\n  ingot targets --json\n");
  command->add_flag("--json", arguments->json, "as JSON");
  command->callback([arguments, &session] {
    session.action = [arguments] {
      fmt::print("{}", arguments->json ? targets_json() : targets_text());
      return kDone;
    };
  });
}

void add_explain_command(CLI::App& app, Session& session) {
  CLI::App* command = app.add_subcommand("explain", "explain a diagnostic at length");
  const auto code = std::make_shared<std::string>();
  command->footer(R"(Examples:
  ingot explain shape-disagrees       the word in brackets at the end of a message
  ingot explain                       lists all codes
)");
  command->add_option("CODE", *code, "the word in brackets at the end of a message");
  command->callback(
      [code, &session] { session.action = [code, &session] { return explain(session, *code); }; });
}

}  // namespace ingot::cli
