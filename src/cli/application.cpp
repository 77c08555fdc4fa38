// SPDX-License-Identifier: Apache-2.0
#include "cli/application.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <system_error>

#include "cli/diagnostics_text.h"
#include "cli/model_arguments.h"
#include "cli/nearest.h"
#include "driver/compile.h"

namespace ingot::cli {
namespace {

constexpr std::string_view kAbout =
    "Ingot compiles trained networks to plain C for microcontrollers: one function, no "
    "allocation,\n"
    "no run-time library, and a memory plan with a proof.";

constexpr std::string_view kExamples = R"(Examples:
  ingot compile kws.tflite -o out          write out/kws.h, kws.c, kws_weights.c and a report
  ingot inspect kws.tflite                 what is in the model, and what it will need
  ingot validate kws.tflite --target cortex-m4
                                           build the C, run it on an emulated core, compare

Exit codes: 0 done; 1 the model is not acceptable; 2 wrong usage; 3 it does not fit the stated
limits; 4 values or claims differ; 5 a needed program is missing; 6 time limit; 70 a bug in Ingot.
)";

// Examples stand right behind the usage line: that is what people look for.
class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_help(const CLI::App* app, std::string name,
                        CLI::AppFormatMode mode) const override {
    if (mode == CLI::AppFormatMode::Sub) return make_expanded(app);
    return make_description(app) + "\n" + make_usage(app, std::move(name)) + app->get_footer() +
           make_positionals(app) + make_groups(app, mode) + make_subcommands(app, mode);
  }
};

int exit_code_of(Code code) {
  switch (code) {
    case Code::kUsage:
    case Code::kDimUnknown:
      return kWrongUsage;
    case Code::kArenaLimit:
    case Code::kFlashLimit:
      return kDoesNotFit;
    case Code::kProgramMissing:
      return kMissingProgram;
    case Code::kInternal:
      return kBug;
    default:
      return kNotAcceptable;
  }
}

void add_commands(CLI::App& app, Session& session) {
  add_compile_command(app, session);
  add_inspect_command(app, session);
  add_run_command(app, session);
  add_validate_command(app, session);
  add_bench_command(app, session);
  add_plan_command(app, session);
  add_ops_command(app, session);
  add_targets_command(app, session);
  add_explain_command(app, session);
  add_completion_command(app, session);
  for (CLI::App* command : app.get_subcommands(nullptr)) {
    add_choice(*command, "--diagnostics", session.diagnostics_format,
               "how messages are written to standard error", {"text", "json"});
    command->get_formatter()->column_width(34);
  }
}

// A command or an option of the command that `argv` may have meant by a word that is none.
std::string correction_of(const CLI::App& app, int argc, char** argv) {
  const std::vector<const CLI::App*> chosen = app.get_subcommands(nullptr);
  std::vector<std::string> known;
  if (app.get_subcommands().empty()) {
    for (const CLI::App* command : chosen) known.push_back(command->get_name());
    return argc > 1 ? did_you_mean(argv[1], known) : "";
  }
  for (const CLI::Option* option : app.get_subcommands().front()->get_options()) {
    for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
  }
  for (int i = 2; i < argc; ++i) {
    const std::string_view whole = argv[i];
    const std::string_view word = whole.substr(0, whole.find('='));
    if (!word.starts_with("--") || std::ranges::find(known, word) != known.end()) continue;
    return did_you_mean(word, known);
  }
  return "";
}

// The name of the command that was understood so far, for the hint.
std::string help_of(const CLI::App& app) {
  for (const CLI::App* command : app.get_subcommands()) {
    return fmt::format("`ingot {} --help` shows its options with examples", command->get_name());
  }
  return "`ingot --help` lists the commands";
}

// Whether --diagnostics json is on a command line, also on one that cannot be parsed.
bool asks_for_json(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "--diagnostics=json") return true;
    if (word == "--diagnostics" && i + 1 < argc && std::string_view(argv[i + 1]) == "json") {
      return true;
    }
  }
  return false;
}

// What is wrong with a command line that cannot be parsed. A word that is no command would be
// called a missing one.
std::string fault_of(const CLI::App& app, const CLI::ParseError& error, int argc, char** argv) {
  if (argc > 1 && app.get_subcommands().empty()) {
    return std::string(argv[1]).starts_with('-') ? "the first word must be a command"
                                                 : "there is no command " + quote(argv[1]);
  }
  if (argc == 1) return "a command is needed";
  std::string what = error.what();
  std::ranges::replace(what, '\n', ' ');
  // "--name: At Most 1 required but received 2"
  const size_t end = what.find(": At Most 1 required");
  if (end != std::string::npos) return what.substr(0, end) + " is given more than once";
  return what;
}

}  // namespace

int report(const Session& session, const Diagnostics& diagnostics) {
  if (diagnostics.empty()) return kDone;
  const std::string text = session.diagnostics_format == "json"
                               ? diagnostics_json(diagnostics)
                               : diagnostics_text(diagnostics, errors_have_colour());
  std::fflush(stdout);
  std::fputs(text.c_str(), stderr);
  int worst = kDone;
  for (const Diagnostic& diagnostic : diagnostics) {
    if (diagnostic.severity != Severity::kError) continue;
    const int code = exit_code_of(diagnostic.code);
    if (worst == kDone || code == kBug) worst = code;
  }
  return worst;
}

void report_warnings(const Session& session, const Diagnostics& warnings, bool with_notes) {
  Diagnostics shown;
  for (const Diagnostic& warning : warnings) {
    if (with_notes || warning.severity != Severity::kNote) shown.push_back(warning);
  }
  report(session, shown);
}

int report_usage(const Session& session, const std::string& what, const std::string& hint) {
  return report(session, {{Code::kUsage, "", what, hint}});
}

namespace {

int report_lost_output(const Session& session) {
  return report(session, {{Code::kFileUnwritable, "", "cannot write to standard output", ""}});
}

}  // namespace

int run(int argc, char** argv) {
  // A limit on file sizes shall be an error of write(), which is reported, and not a signal.
  std::signal(SIGXFSZ, SIG_IGN);
  Session session;
  CLI::App app{std::string(kAbout), "ingot"};
  app.formatter(std::make_shared<HelpFormatter>());
  app.footer(std::string(kExamples));
  app.set_version_flag("--version", "ingot " + std::string(version()));
  app.require_subcommand(1);
  try {
    add_commands(app, session);
    app.parse(argc, argv);
    const int code = session.action();
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) return report_lost_output(session);
    return code;
  } catch (const CLI::Success& success) {
    return app.exit(success);  // --help, --version
  } catch (const CLI::ParseError& error) {
    if (asks_for_json(argc, argv)) session.diagnostics_format = "json";
    const std::string correction = correction_of(app, argc, argv);
    return report_usage(session, fault_of(app, error, argc, argv),
                        correction.empty() ? help_of(app) : correction + " " + help_of(app));
  } catch (const std::system_error& error) {
    // fmt::print throws where fprintf would say that it could not write.
    if (std::ferror(stdout) != 0) return report_lost_output(session);
    return report(session, {{Code::kInternal, "", error.what(), "please report this"}});
  } catch (const std::exception& error) {
    return report(session, {{Code::kInternal, "", error.what(), "please report this"}});
  }
}

}  // namespace ingot::cli
