#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# configure.sh PRESET [CMAKE-ARGUMENT...]: configures the build folder of a preset of
# CMakePresets.json, quietly unless it fails. Nothing happens twice: ninja itself configures again
# when a CMakeLists.txt has changed.
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/.."

# Debian's python3, whatever else is called so on this machine.
options=(-DPython3_EXECUTABLE=/usr/bin/python3)
if command -v ccache >/dev/null; then
  options+=(-DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
fi
preset=$1
shift
if ! output=$(cmake --preset "$preset" "${options[@]}" "$@" 2>&1); then
  echo "$output" >&2
  exit 1
fi
