#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# run.sh [BUILD [OUT]]: the fault of a planner that takes the caller's output for its own memory,
# and why Ingot's cannot have it. docs/caller_output.md tells the story.
# BUILD (default: build) holds the programs ingot, tests/tflite_write and memory_maps.
set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
build=$(readlink -f "${1:-$here/../../build}")
out=${2:-$build/caller_output}
mkdir -p "$out"

"$build/tests/tflite_write" "$here/keywords.json" "$out/keywords.tflite"
"$build/memory_maps" "$out/keywords.tflite"
"$build/ingot" compile "$out/keywords.tflite" -o "$out/generated" --api tvm --quiet
${CC:-cc} -std=c99 -O2 -Wall -Wextra -I"$out/generated" "$here/main.c" "$out"/generated/*.c \
  -lm -o "$out/caller"
printf '\nIngot'\''s code between guard bytes (X: a guard byte that changed):\n\n'
"$out/caller"
