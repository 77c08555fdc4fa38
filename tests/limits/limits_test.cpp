// SPDX-License-Identifier: Apache-2.0
// No file takes more than 512 MB, nor more than 2 s of the processor (4 s on a slow machine; the
// numbers are printed): each row is compiled by the program itself, under limits of the operating
// system, which end it if it asks for more.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cctype>
#include <filesystem>
#include <fstream>

#include "support/check.h"
#include "support/file.h"
#include "tests/limits/nasty_models.h"
#include "toolchain/temporary_folder.h"

namespace ingot::testing {
namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr bool kHasAddressSanitizer = true;  // which takes all addresses there are
#else
constexpr bool kHasAddressSanitizer = false;
#endif
#ifdef INGOT_IS_FAST
constexpr int64_t kSlowness = 1;
#else
constexpr int64_t kSlowness = 20;
#endif
constexpr rlim_t kMostBytes = 512'000'000;
constexpr int64_t kMostSeconds = 2 * kSlowness;  // of the processor
// For machines that are slower, or busier, than the one on which the limits were set.
constexpr int64_t kAllowance = 2;

struct Outcome {
  int status = 0;
  double seconds = 0;
  int64_t megabytes = 0;
  std::string errors;
};

void set_limit(decltype(RLIMIT_AS) resource, rlim_t limit) {
  const rlimit both{limit, limit};
  if (::setrlimit(resource, &both) != 0) ::_exit(126);
}

Outcome compile(const std::filesystem::path& folder, const NastyModel& row) {
  const std::string model = folder / "model.tflite";
  const std::string out = folder / "out";
  const std::string errors = folder / "stderr";
  {
    const std::vector<uint8_t> file = row.file();
    std::ofstream stream(model, std::ios::binary);
    stream.write(reinterpret_cast<const char*>(file.data()),
                 static_cast<std::streamsize>(file.size()));
  }
  const pid_t child = ::fork();
  if (child == 0) {
    if (!kHasAddressSanitizer) set_limit(RLIMIT_AS, kMostBytes);
    // What is between is told with the numbers.
    set_limit(RLIMIT_CPU, static_cast<rlim_t>(2 * kAllowance * kMostSeconds));
    if (::freopen(errors.c_str(), "w", stderr) == nullptr) ::_exit(126);
    std::vector<std::string> words = {"ingot", "compile",  model,      "-o",
                                      out,     "--target", row.target, "--quiet"};
    words.insert(words.end(), row.options.begin(), row.options.end());
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    ::execv(INGOT_PROGRAM, arguments.data());
    ::_exit(126);
  }
  Outcome run;
  rusage usage = {};
  CHECK(child > 0 && ::wait4(child, &run.status, 0, &usage) == child);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  run.seconds = seconds(usage.ru_utime) + seconds(usage.ru_stime);
  run.megabytes = usage.ru_maxrss / 1024;
  std::ifstream stream(errors);
  run.errors.assign(std::istreambuf_iterator<char>(stream), {});
  return run;
}

class Limits : public ::testing::TestWithParam<NastyModel> {};

TEST_P(Limits, Hold) {
  const NastyModel& row = GetParam();
  const Result<toolchain::TemporaryFolder> folder = toolchain::TemporaryFolder::make();
  ASSERT_TRUE(folder);
  const Outcome run = compile(folder->path(), row);
  fmt::print("{}: {:.2f} s, {} MiB\n", row.name, run.seconds, run.megabytes);
  ASSERT_TRUE(WIFEXITED(run.status)) << "signal " << WTERMSIG(run.status);
  const bool is_refused = !row.message.empty();
  EXPECT_EQ(WEXITSTATUS(run.status), is_refused ? row.exit_code : 0) << run.errors.substr(0, 2000);
  EXPECT_THAT(run.errors, ::testing::HasSubstr(row.message));
  EXPECT_LT(run.seconds, static_cast<double>(kAllowance * kMostSeconds));
}

std::string name_of_row(const ::testing::TestParamInfo<NastyModel>& info) {
  std::string name;
  for (const char c : info.param.name) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) name += c;
  }
  return name;
}

INSTANTIATE_TEST_SUITE_P(Large, Limits, ::testing::ValuesIn(large_models()), name_of_row);
INSTANTIATE_TEST_SUITE_P(Entangled, Limits, ::testing::ValuesIn(entangled_models()), name_of_row);
INSTANTIATE_TEST_SUITE_P(Scheduled, Limits, ::testing::ValuesIn(scheduled_models()), name_of_row);
INSTANTIATE_TEST_SUITE_P(Sharing, Limits, ::testing::ValuesIn(sharing_models()), name_of_row);

}  // namespace
}  // namespace ingot::testing
