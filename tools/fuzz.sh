#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# fuzz.sh [SECONDS]: fuzzes the importer and the whole pipeline, each for half of SECONDS (default 60),
# with AddressSanitizer and UndefinedBehaviorSanitizer: no crash, no leak, no input that takes more than 2 s
# or 512 MB. The corpus grows in build-fuzz/corpus from run to run; what each run did is appended to
# build-fuzz/log. Ends with 1 and the offending input in build-fuzz/ if there is a finding.
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/.."

seconds=${1:-60}
[ -f build-fuzz/build.ninja ] || tools/configure.sh fuzz
cmake --build build-fuzz --target import_fuzzer compile_fuzzer write_corpus
mkdir -p build-fuzz/corpus
[ -n "$(ls build-fuzz/corpus)" ] || build-fuzz/tests/write_corpus build-fuzz/corpus
export ASAN_OPTIONS=quarantine_size_mb=8:detect_leaks=1
status=0
for fuzzer in import_fuzzer compile_fuzzer; do
  echo "== $fuzzer, $((seconds / 2)) s"
  build-fuzz/tests/$fuzzer build-fuzz/corpus -max_total_time=$((seconds / 2)) -timeout=2 -rss_limit_mb=512 \
    -max_len=65536 -artifact_prefix=build-fuzz/ -print_final_stats=1 2>&1 | tee build-fuzz/last.txt |
    grep -E "^(SUMMARY|==.*ERROR|stat::(number_of_executed|peak_rss))" || true
  runs=$(sed -n 's/^stat::number_of_executed_units: *//p' build-fuzz/last.txt)
  grep -q "ERROR: \|SUMMARY: " build-fuzz/last.txt && status=1
  echo "$(git rev-parse --short HEAD) $fuzzer $((seconds / 2)) s, $runs runs, finding: $status" | tee -a build-fuzz/log
done
exit $status
