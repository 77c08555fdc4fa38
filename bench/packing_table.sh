#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Prints how well the planner packs the CSV instances in a folder, one thread:
#     bench/packing_table.sh FOLDER [SECONDS per instance, 5 if left out]
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
folder=${1:?usage: bench/packing_table.sh FOLDER [SECONDS]}
cmake -S "$root" --preset release >/dev/null
cmake --build "$root/build" --target plan_bench >/dev/null
exec "$root/build/plan_bench" "$folder" "${2:-5}"
