#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tidy.sh [BUILD-FOLDER] [FILE...]: the checks of .clang-tidy over src/ without its tests (or over
# FILE...), all cores at once. The build folder must have been built once: it holds the compile
# commands and generated headers. A file that has passed is not looked at again until it, a header
# or .clang-tidy changes; what has passed is remembered in BUILD-FOLDER/tidy.
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/.."
build=${1:-build}
shift || true
files=("$@")
if [ "${#files[@]}" -eq 0 ]; then
  mapfile -t files < <(find src -name '*.cpp' ! -name '*_test.cpp' ! -path '*/runtime/*' | sort)
fi

mkdir -p "$build/tidy"
shared=$( (cat .clang-tidy; find src -name '*.h' -print0 | sort -z | xargs -0 cat) | sha256sum)
export build shared

check_file() {
  local mark
  mark=$build/tidy/$( (echo "$shared $1"; cat "$1") | sha256sum | cut -c1-32)
  [ -e "$mark" ] && return 0
  local said
  if said=$(clang-tidy-14 -p "$build" --quiet --extra-arg=-Wno-unknown-warning-option "$1" 2>/dev/null); then
    touch "$mark"
  else
    printf '%s\n' "$said" "clang-tidy: $1 fails"
    return 1
  fi
}
export -f check_file

printf '%s\0' "${files[@]}" | xargs -0 -P "$(nproc)" -I{} bash -c 'check_file "$1"' _ {}
echo "${#files[@]} files: clang-tidy has nothing to say"
