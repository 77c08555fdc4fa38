// SPDX-License-Identifier: Apache-2.0
// Ends the process if one input takes too long. libFuzzer's own -timeout looks at the clock on the
// wall, by which a busy machine makes every input slow; this looks at the time of the processor.
// Ingot may take 2 s; with sanitizers, which make it five to ten times slower, 10 s.
#pragma once
#include <sys/time.h>

#include <csignal>
#include <cstdlib>

namespace ingot::testing {

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define INGOT_IS_SANITIZED 1
#endif
#endif
#if defined(INGOT_IS_SANITIZED) || defined(__SANITIZE_ADDRESS__)
constexpr int kMostSeconds = 10;
#else
constexpr int kMostSeconds = 2;
#endif

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
