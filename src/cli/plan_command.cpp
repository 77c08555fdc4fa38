// SPDX-License-Identifier: Apache-2.0
// ingot plan: the memory planner alone, on the CSV files that planners are compared with.
#include <fmt/format.h>

#include <chrono>
#include <limits>
#include <memory>

#include "cli/application.h"
#include "cli/model_arguments.h"
#include "cli/progress.h"
#include "plan/csv.h"
#include "plan/plan.h"
#include "report/json_text.h"
#include "support/check.h"
#include "support/file.h"

namespace ingot::cli {
namespace {

struct Arguments {
  std::string problem;
  std::string solution;
  std::optional<int64_t> capacity;
  std::optional<double> time_limit;
  bool json = false;
};

constexpr std::string_view kExamples = R"(Examples:
  ingot plan buffers.csv -o solution.csv
      columns id,lower,upper,size (half-open lifetimes) in; the same with offset out
  ingot plan buffers.csv --capacity 1048576 --time-limit 60 --json
      exit 0 with a plan, 3 if it is proved that none fits, 6 if none was found in time
)";

std::string result_json(const plan::PoolPlan& pool, double seconds) {
  return to_text({{"schema_version", 1},
                  {"height", pool.height_bytes},
                  {"lower_bound", pool.lower_bound_bytes},
                  {"optimal", pool.optimal},
                  {"seconds", seconds}});
}

std::string result_text(const plan::PoolPlan& pool, double seconds) {
  return fmt::format("height {} bytes, {}, {:.2f} s\n", pool.height_bytes,
                     pool.optimal ? std::string("proved least")
                                  : fmt::format("lower bound {}", pool.lower_bound_bytes),
                     seconds);
}

int report_misfit(const Session& session, const plan::PoolPlan& pool, int64_t capacity) {
  const bool proved = pool.lower_bound_bytes > capacity;
  const std::string what =
      proved
          ? fmt::format("no plan fits {} bytes: it is proved that {} are needed", capacity,
                        pool.lower_bound_bytes)
          : fmt::format("no plan of at most {} bytes was found; the best has {}, the bound is {}",
                        capacity, pool.height_bytes, pool.lower_bound_bytes);
  report(session, {{proved ? Code::kArenaLimit : Code::kTimeLimit, "", what,
                    proved ? "" : "a longer --time-limit may find one"}});
  return proved ? kDoesNotFit : kTimeLimit;
}

// `faults` with the name of the file in front of the line.
Diagnostics in_file(Diagnostics faults, const std::string& path) {
  for (Diagnostic& fault : faults)
    fault.where = quote(path) + (fault.where.empty() ? "" : ", " + fault.where);
  return faults;
}

int plan_file(const Session& session, const Arguments& arguments) {
  const Result<std::vector<uint8_t>> bytes = read_file(arguments.problem);
  if (!bytes) return report(session, bytes.error());
  const Result<plan::CsvProblem> csv = plan::read_csv(std::string(bytes->begin(), bytes->end()));
  if (!csv) return report(session, in_file(csv.error(), arguments.problem));
  plan::Problem problem = csv->problem;
  problem.pools.at(0).capacity_bytes = arguments.capacity;

  // More than a compilation may spend: the hardest known instances take less. Large ones, of which
  // each node takes long, are left after a minute all the same.
  constexpr double kMostSeconds = 60;
  plan::Limits limits{.search_nodes = 1'000'000, .climb_steps = 2'000, .pairs = 50'000'000};
  limits.seconds = arguments.time_limit.value_or(kMostSeconds);
  if (arguments.time_limit) {
    limits.search_nodes = std::numeric_limits<int64_t>::max();
  }
  const auto begin = std::chrono::steady_clock::now();
  plan::Plan plan;
  {
    const Progress progress("planning " + arguments.problem);
    plan = plan::solve(problem, limits);
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  const std::string violation = plan::find_violation(problem, plan);
  if (!violation.empty()) throw InternalError("the plan is wrong: " + violation);
  const plan::PoolPlan& pool = plan.pools.at(0);

  if (arguments.json) fmt::print("{}", result_json(pool, seconds.count()));
  if (!plan.fits) return report_misfit(session, pool, arguments.capacity.value_or(0));
  const std::string solution = plan::write_csv(problem, &plan);
  if (!arguments.solution.empty()) {
    const std::filesystem::path path = arguments.solution;
    const auto written = write_files(path.has_parent_path() ? path.parent_path() : ".",
                                     {{path.filename().string(), solution}});
    if (!written) return report(session, written.error());
    if (!arguments.json) fmt::print("{}", result_text(pool, seconds.count()));
  } else if (!arguments.json) {
    fmt::print("{}", solution);
  }
  return kDone;
}

}  // namespace

void add_plan_command(CLI::App& app, Session& session) {
  CLI::App* command = app.add_subcommand("plan", "plan memory for a list of buffers");
  const auto arguments = std::make_shared<Arguments>();
  command->footer(std::string(kExamples));
  command->add_option("PROBLEM", arguments->problem, "CSV file of buffers")
      ->required()
      ->type_name("FILE");
  command->add_option("-o,--output", arguments->solution, "write the plan there (else printed)")
      ->type_name("FILE");
  command->add_option("--capacity", arguments->capacity, "bytes that there are")
      ->check(non_negative())
      ->type_name("BYTES");
  command
      ->add_option("--time-limit", arguments->time_limit,
                   "seconds to search for (default: a budget of work, at most 60)")
      ->check(non_negative())
      ->type_name("S");
  command->add_flag("--json", arguments->json, "print height, bound and time as JSON");
  command->callback([arguments, &session] {
    session.action = [arguments, &session] { return plan_file(session, *arguments); };
  });
}

}  // namespace ingot::cli
