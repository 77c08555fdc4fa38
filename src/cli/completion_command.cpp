// SPDX-License-Identifier: Apache-2.0
// ingot completion: what shells need to complete our command lines, made from the options as they
// are declared.
#include <fmt/format.h>

#include <memory>
#include <vector>

#include "cli/application.h"

namespace ingot::cli {
namespace {

struct CommandWords {
  std::string name;
  std::string help;
  std::vector<std::string> options;  // "--target", "-o"
};

std::vector<CommandWords> words_of(const CLI::App& app) {
  std::vector<CommandWords> commands;
  for (const CLI::App* command : app.get_subcommands(nullptr)) {
    CommandWords words{command->get_name(), command->get_description(), {}};
    for (const CLI::Option* option : command->get_options()) {
      for (const std::string& name : option->get_snames()) words.options.push_back("-" + name);
      for (const std::string& name : option->get_lnames()) words.options.push_back("--" + name);
    }
    commands.push_back(std::move(words));
  }
  return commands;
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

std::string bash_script(const std::vector<CommandWords>& commands) {
  std::vector<std::string> names;
  std::string cases;
  for (const CommandWords& command : commands) {
    names.push_back(command.name);
    cases += fmt::format("    {}) options=\"{}\" ;;\n", command.name, joined(command.options));
  }
  return fmt::format(R"(# ingot completion bash > ~/.local/share/bash-completion/completions/ingot
_ingot() {{
  local current="${{COMP_WORDS[COMP_CWORD]}}" options=""
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "{} --help --version" -- "$current"))
    return
  fi
  case "${{COMP_WORDS[1]}}" in
{}  esac
  case "$current" in
    -*) COMPREPLY=($(compgen -W "$options" -- "$current")) ;;
    *) COMPREPLY=($(compgen -f -- "$current")) ;;
  esac
}}
complete -o filenames -F _ingot ingot
)",
                     joined(names), cases);
}

std::string zsh_script(const std::vector<CommandWords>& commands) {
  std::string list;
  std::string cases;
  for (const CommandWords& command : commands) {
    list += fmt::format("    '{}:{}'\n", command.name, command.help);
    cases += fmt::format("    {}) compadd -- {} ;;\n", command.name, joined(command.options));
  }
  return fmt::format(R"(#compdef ingot
# ingot completion zsh > "${{fpath[1]}}/_ingot"
_ingot() {{
  local -a commands
  commands=(
{}  )
  if (( CURRENT == 2 )); then
    _describe 'command' commands
    return
  fi
  if [[ $words[CURRENT] != -* ]]; then
    _files
    return
  fi
  case $words[2] in
{}  esac
}}
compdef _ingot ingot
)",
                     list, cases);
}

std::string fish_script(const std::vector<CommandWords>& commands) {
  std::string text = "# ingot completion fish > ~/.config/fish/completions/ingot.fish\n";
  for (const CommandWords& command : commands) {
    text += fmt::format("complete -c ingot -n __fish_use_subcommand -a {} -d '{}'\n", command.name,
                        command.help);
    for (const std::string& option : command.options) {
      const bool is_long = option.starts_with("--");
      text += fmt::format("complete -c ingot -n '__fish_seen_subcommand_from {}' -{} {}\n",
                          command.name, is_long ? "l" : "s", option.substr(is_long ? 2 : 1));
    }
  }
  return text;
}

}  // namespace

void add_completion_command(CLI::App& app, Session& session) {
  CLI::App* command = app.add_subcommand("completion", "print completion for a shell");
  const auto shell = std::make_shared<std::string>();
  command->footer(R"(Examples:
  ingot completion bash > ~/.local/share/bash-completion/completions/ingot
  ingot completion zsh > "${fpath[1]}/_ingot"
  ingot completion fish > ~/.config/fish/completions/ingot.fish
)");
  command->add_option("SHELL", *shell, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  command->callback([shell, &app, &session] {
    session.action = [shell, &app] {
      const std::vector<CommandWords> commands = words_of(app);
      fmt::print("{}", *shell == "bash"  ? bash_script(commands)
                       : *shell == "zsh" ? zsh_script(commands)
                                         : fish_script(commands));
      return kDone;
    };
  });
}

}  // namespace ingot::cli
