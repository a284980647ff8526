#!/usr/bin/env bash
# Makes .venv and installs what a target needs; does nothing when all is there already.
# Usage: requirements/setup.sh install|dev|cluster
#   install: enough for `make demo`; dev: for `make test` and `make check`; cluster: for `make test-cluster` (with Go)
set -euo pipefail
cd "$(dirname "$0")/.."
what=${1:-dev}

say() { printf 'set-up: %s\n' "$*" >&2; }

fail() {
  printf 'set-up: %s\n' "$@" >&2
  exit 2
}

as_root() { if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi; }

may_be_root() {
  [ "$(id -u)" = 0 ] && return 0
  command -v sudo >/dev/null || return 1
  sudo -n true 2>/dev/null || [ -t 0 ]
}

wanted_packages() {
  grep -hv '^#' requirements/debian.txt
  [ "$what" = install ] || grep -hv '^#' requirements/debian-dev.txt
  [ "$what" != cluster ] || grep -hv '^#' requirements/debian-cluster.txt
}

missing_packages() {
  local package
  for package in $(wanted_packages); do
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || echo "$package"
  done
  python3 -c 'import ensurepip, venv' 2>/dev/null || echo python3-venv
}

install_packages() {
  command -v dpkg-query >/dev/null || {
    say "this is no Debian: install what requirements/debian*.txt name (Apertium with its pairs, Redis) yourself"
    return 0
  }
  local missing line
  missing=$(missing_packages | tr '\n' ' ')
  [ -z "$missing" ] && return 0
  line="apt-get install -y --no-install-recommends $missing"
  may_be_root || fail "these Debian packages are missing, and only root may install them. Type:" "    sudo $line" "then run this command again."
  say "installing Debian packages: $missing"
  as_root apt-get update -qq || say "apt-get update failed; trying with the package lists that are here"
  # shellcheck disable=SC2086
  as_root env DEBIAN_FRONTEND=noninteractive SYSTEMD_OFFLINE=1 apt-get install -y -qq --no-install-recommends $missing >/dev/null ||
    fail "apt-get could not install them. Type this and read what it says:" "    sudo $line"
  keep_asleep "$missing"
}

keep_asleep() { # Debian starts and enables what it installs; the tests start their own. What was here before is left alone.
  [ -d /run/systemd/system ] || return 0
  case " $1 " in *" prometheus "*) as_root systemctl disable --quiet --now prometheus.service || true ;; esac
  case " $1 " in *" etcd-server "*) as_root systemctl disable --quiet --now etcd.service || true ;; esac
}

check_python() {
  command -v python3 >/dev/null || fail "python3 is missing (3.11 or newer is needed). Type:" "    sudo apt-get install -y python3"
  python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
    fail "Python 3.11 or newer is needed; python3 here is $(python3 --version 2>&1)"
}

install_python() {
  local set=${what/cluster/dev}
  local lock=requirements/$set.lock stamp=.venv/.installed-$set
  local wanted
  wanted=$(cat "$lock" pyproject.toml requirements/runtime.in | sha256sum)
  [ -x .venv/bin/python ] || { say "making .venv"; python3 -m venv .venv; }
  [ "$(cat "$stamp" 2>/dev/null)" = "$wanted" ] && return 0
  say "installing Python packages from $lock (about a minute the first time)"
  .venv/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r "$lock"
  .venv/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
  echo "$wanted" >"$stamp"
}

check_python
install_packages
install_python
