#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# install_packages.sh GROUP...: installs what tools/packages.txt lists for these groups and this
# machine lacks. Needs root or sudo only if something is missing. Debian 12.
set -euo pipefail

list=$(dirname "$(readlink -f "$0")")/packages.txt
wanted=()
for group in "$@"; do
  mapfile -t -O "${#wanted[@]}" wanted < <(awk -v group="$group" '$1 == group { print $2 }' "$list")
done

is_installed() {
  [ "$(dpkg-query --show --showformat='${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

missing=()
for package in "${wanted[@]}"; do
  is_installed "$package" || missing+=("$package")
done
if [ "${#missing[@]}" -eq 0 ]; then
  echo "All ${#wanted[@]} packages are installed."
  exit 0
fi

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  if ! command -v sudo >/dev/null; then
    echo "error: these packages are missing, and there is no sudo to install them:" >&2
    echo "  ${missing[*]}" >&2
    exit 5
  fi
  as_root=(sudo)
fi
echo "Installing ${#missing[@]} packages: ${missing[*]}"
apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -y -o DPkg::Lock::Timeout=300)
"${apt[@]}" -qq update
"${apt[@]}" install --no-install-recommends "${missing[@]}"
