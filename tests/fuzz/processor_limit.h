// SPDX-License-Identifier: Apache-2.0
// Ends the process if one input takes too long. libFuzzer's own -timeout looks at the clock on the
// wall, by which a busy machine makes every input slow; this looks at the time of the processor.
#pragma once
#include <sys/time.h>

#include <csignal>
#include <cstdlib>

namespace ingot::testing {

constexpr int kMostSeconds = 2;

class ProcessorLimit {
 public:
  ProcessorLimit() {
    static const auto set = std::signal(SIGPROF, [](int) { std::abort(); });
    static_cast<void>(set);
    start(kMostSeconds);
  }
  ProcessorLimit(const ProcessorLimit&) = delete;
  ProcessorLimit& operator=(const ProcessorLimit&) = delete;
  ~ProcessorLimit() { start(0); }

 private:
  static void start(int seconds) {
    const itimerval timer = {.it_interval = {}, .it_value = {.tv_sec = seconds, .tv_usec = 0}};
    ::setitimer(ITIMER_PROF, &timer, nullptr);
  }
};

}  // namespace ingot::testing
