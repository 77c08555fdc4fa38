#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# fuzz.sh [--mutants] [SECONDS [TARGET...]]: fuzzes with libFuzzer, AddressSanitizer and
# UndefinedBehaviorSanitizer. Targets are import_fuzzer and compile_fuzzer (default: both, each for
# half of SECONDS, default 60). No input may crash, leak, take 2 s of the processor or ask for 512 MB
# at once (the fuzzer holds its corpus, too: tests/limits has the limit of all memory).
#
# The corpus grows in build-fuzz/corpus from run to run, starting with tests/fuzz/corpus and our
# sample networks. A line for every run is appended to build-fuzz/log (docs/fuzzing.md says what
# they add up to). Ends with 1, and the offending input in build-fuzz/findings, at a finding.
#
# The 2 s (10 s with sanitizers) are counted by the targets (tests/fuzz/processor_limit.h): on a busy
# machine, libFuzzer's -timeout, which looks at the clock on the wall, finds nothing but that.
#
# --mutants: instead, models with one thing changed become C, which is built with the sanitizers and
# run between guard bytes, until SECONDS are over.
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/.."

mutants=0
if [ "${1:-}" = --mutants ]; then
  mutants=1
  shift
fi
seconds=${1:-60}
shift || true
targets=("${@:-import_fuzzer}")
[ $# -gt 0 ] || targets=(import_fuzzer compile_fuzzer)
folder=build-fuzz

note() { echo "$(date '+%Y-%m-%d %H:%M') $(git rev-parse --short HEAD) $*" | tee -a "$folder/log"; }

if [ $mutants = 1 ]; then
  mkdir -p "$folder"
  tools/configure.sh release
  cmake --build build --target fuzz_mutants_test
  first=1
  end=$((SECONDS + seconds))
  while [ $SECONDS -lt $end ]; do
    if ! INGOT_MUTANTS_FIRST=$first INGOT_MUTANTS=200 build/tests/fuzz_mutants_test; then
      note "mutants from seed $first on: FINDING"
      exit 1
    fi
    note "mutants: C of 200 was run, from seed $first on, no finding"
    first=$((first + 4000))
  done
  exit 0
fi

[ -f $folder/build.ninja ] || tools/configure.sh fuzz
cmake --build $folder --target "${targets[@]}" write_corpus
mkdir -p $folder/corpus $folder/findings
cp -n tests/fuzz/corpus/* $folder/corpus/
[ -f $folder/corpus/.written ] || $folder/tests/write_corpus $folder/corpus
touch $folder/corpus/.written
export ASAN_OPTIONS=quarantine_size_mb=8:detect_leaks=1:allocator_may_return_null=0

status=0
for target in "${targets[@]}"; do
  left=$((seconds / ${#targets[@]}))
  while [ "$left" -gt 0 ]; do
    began=$SECONDS
    chunk=$((left < 1200 ? left : 1200))
    log=$folder/$target.txt
    TIMEFORMAT='%U %S'
    used=$({ time "$folder/tests/$target" $folder/corpus -max_total_time="$chunk" -timeout=1200 -report_slow_units=100 \
      -rss_limit_mb=2048 -malloc_limit_mb=512 -max_len=65536 -artifact_prefix="$folder/findings/$target-" \
      -print_final_stats=1 >"$log" 2>&1; } 2>&1 | awk '{ print int($1 + $2) }') || true
    runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
    [ -n "$runs" ] || runs=$(sed -n 's/^#\([0-9]*\).*/\1/p' "$log" | tail -1)
    artifact=$(sed -n 's/.*Test unit written to //p' "$log" | tail -1)
    left=$((left - (SECONDS - began)))
    if [ -n "$artifact" ] || ! grep -q '^Done ' "$log"; then
      note "$target ${used}s of the processor, $runs runs, FINDING $artifact"
      grep -E '^(SUMMARY|==.*ERROR)|terminate|InternalError' "$log" || tail -5 "$log"
      status=1
      break
    fi
    note "$target ${used}s of the processor, $runs runs, none"
  done
done
exit $status
