#!/bin/sh
# Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0
#
# Boots a Debian kernel with soft-RoCE under QEMU's emulation and runs the checks of guest.sh in it. See
# docs/rdma-test.md. Started by ./talaria rdma-test, which finds the JDK.

set -u

readonly PACKAGES='qemu-system-x86 busybox-static cpio kmod xz-utils iproute2 rdma-core ibverbs-utils
  rdmacm-utils ucx-utils libucx0'
readonly BASE_FORMAT=1 # changes with what prepare.sh makes
readonly MEMORY_MB=4096
readonly STATUS_MISSING=69 # EX_UNAVAILABLE of sysexits.h
readonly STATUS_USAGE=2
readonly STATUS_MISSED=3

usage() {
  cat <<'USAGE'
Usage: ./talaria rdma-test [--bench] [--keep] [--only PATTERNS] [--timeout SECONDS] [--patience N]

Boots a Debian kernel with a software RDMA device (soft-RoCE) in QEMU, and runs checks of
libibverbs, UCX and Java on real verbs in it. Takes some minutes on one core.
docs/rdma-test.md describes the checks.

  --bench            instead of the checks, compare Java with perftest in three rounds
                     (docs/verbs.md)
  --keep             keep all files of the run, not only the log and the table
  --only PATTERNS    run only checks whose names match, for example 'ibv_*,ucx_ud*'
  --timeout SECONDS  time limit from boot to the last check (default: 3600)
  --patience N       multiply the time limit of each check by N, for a busy host (default: 1)

Needs Debian 12 or newer on amd64, a JDK 25 and some Debian packages. As root, or with sudo
without a password, it installs missing packages.

Exit status: 0 all checks passed, 1 a check failed, 2 wrong usage, 3 a ratio missed its target,
69 something is missing.

  ./talaria rdma-test
  ./talaria rdma-test --only 'ibv_*,java_hello' --patience 4
USAGE
}

say() {
  printf 'talaria: %s\n' "$*" >&2
}

missing() {
  say "$*"
  exit "$STATUS_MISSING"
}

parse() {
  keep=
  only='*'
  limit=3600
  bench=no
  patience=1
  while [ $# -gt 0 ]; do
    case $1 in
      -h | --help)
        usage
        exit 0
        ;;
      --keep) keep=yes ;;
      --bench) bench=yes ;;
      --only | --timeout | --patience)
        [ $# -ge 2 ] || wrong "$1 needs a value"
        case $1 in
          --only) only=$2 ;;
          --patience) patience=$2 ;;
          *) limit=$2 ;;
        esac
        shift
        ;;
      --only=*) only=${1#*=} ;;
      --timeout=*) limit=${1#*=} ;;
      --patience=*) patience=${1#*=} ;;
      *) wrong "unknown argument $1" ;;
    esac
    shift
  done
  case $limit in
    '' | 0* | *[!0-9]*) wrong "--timeout is a number of seconds, not $limit" ;;
  esac
  case $patience in
    '' | 0* | *[!0-9]*) wrong "--patience is a whole number, not $patience" ;;
  esac
}

wrong() {
  say "rdma-test: $*; try: ./talaria rdma-test --help"
  exit "$STATUS_USAGE"
}

# Runs as root, if this user may become that without being asked.
as_root() {
  if [ "$(id -u)" -eq 0 ]; then
    "$@"
  else
    sudo -n "$@"
  fi
}

may_install() {
  [ "$(id -u)" -eq 0 ] || sudo -n true 2>/dev/null
}

not_installed() {
  for package in $wanted; do
    case $(dpkg-query -W -f '${Status}' "$package" 2>/dev/null) in
      *' installed') ;;
      *) printf ' %s' "$package" ;;
    esac
  done
}

need_packages() {
  if ! command -v apt-get >/dev/null 2>&1 || [ "$(dpkg --print-architecture)" != amd64 ]; then
    missing "rdma-test needs Debian on amd64: its kernel and tools come from there"
  fi
  wanted=$PACKAGES
  [ "$bench" = no ] || wanted="$wanted perftest"
  absent=$(not_installed)
  [ -n "$absent" ] || return 0
  may_install || missing "packages are missing; as root: apt-get install$absent"
  say "installing$absent"
  # shellcheck disable=SC2086 # several packages
  install_now $absent || { as_root apt-get -q update >>"$log" 2>&1 && install_now $absent; } || {
    tail -n 5 "$log" >&2
    missing "apt-get could not install$absent; all of its output is in $log"
  }
}

install_now() {
  as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -y --no-install-recommends install "$@" >>"$log" 2>&1
}

# Kernel and modules, made once for a user and all worktrees.
need_kernel() {
  if [ -n "${XDG_CACHE_HOME:-${HOME-}}" ]; then
    cache=${XDG_CACHE_HOME:-$HOME/.cache}/talaria
  else
    cache=$WORK
  fi
  base=$cache/rdma-kernel-$BASE_FORMAT
  [ -f "$base/version" ] && return 0
  say "downloading a kernel into $base (70 MB, once)"
  [ -n "$(apt-cache depends linux-image-amd64 2>/dev/null)" ] || ! may_install ||
    as_root apt-get -q update >>"$log" 2>&1
  "$ROOT/test/rdma-test/prepare.sh" "$base" || missing "there is no kernel to boot"
}

# The agent and the command line; the modules whose output checks.list names, if it is missing or older than a
# source; the programs of sockets.sh, and those of a single file.
need_classes() {
  "$ROOT/talaria" build || exit
  modules=
  for module in $(paths | tr ':' '\n' | sed -n 's,/target/.*,,p' | sort -u); do
    [ -f "$ROOT/$module/pom.xml" ] && modules=${modules:+$modules,}$module
  done
  built=$WORK/built
  if [ -n "$modules" ] && stale; then
    build
  fi
  mkdir -p "$WORK/classes" "$WORK/programs"
  (cd "$ROOT/test/it/src/main/java" && "$JAVA_HOME/bin/javac" --release 17 -d "$WORK/programs" -sourcepath . \
    io/talaria/it/programs/Talk.java io/talaria/it/programs/Stream*.java) || exit 1
  "$JAVA_HOME/bin/javac" -Xlint:all,-restricted -Werror --release 25 -d "$WORK/classes" \
    "$ROOT"/test/rdma-test/java/*.java || exit 1
}

# The class and module paths of everything that the guest runs, one a line.
paths() {
  "$ROOT/test/rdma-test/java-check.sh" --paths
  "$ROOT/test/rdma-test/bench.sh" --paths
}

stale() {
  [ "$(cat "$built" 2>/dev/null)" = "$modules" ] || return 0
  for entry in $(paths | tr ':' '\n'); do
    case $entry in
      target/*) ;;
      *) [ -e "$ROOT/${entry%/\*}" ] || return 0 ;;
    esac
  done
  [ -n "$(find "$ROOT/pom.xml" "$ROOT"/.mvn "$ROOT"/*/*/pom.xml "$ROOT"/*/*/src -newer "$built" -print 2>/dev/null |
    head -n 1)" ]
}

build() {
  if command -v mvn >/dev/null 2>&1; then
    maven=mvn
  elif [ -x "${MAVEN_HOME-}/bin/mvn" ]; then
    maven=$MAVEN_HOME/bin/mvn
  else
    missing "no Maven found; install it (package maven), or set MAVEN_HOME to its folder"
  fi
  say "building $modules (log in $WORK/build.log)"
  printf '%s\n' "$modules" >"$built.new"
  (cd "$ROOT" && "$maven" -B -DskipTests -pl "$modules" -am package) >"$WORK/build.log" 2>&1 || {
    grep -E '^\[ERROR\]' "$WORK/build.log" | head -n 20 >&2
    say "the build failed; all of it is in $WORK/build.log"
    exit 1
  }
  mv "$built.new" "$built"
}

quoted() {
  printf "'%s'" "$(printf '%s' "$1" | sed "s/'/'\\\\''/g")"
}

# The home of a Java 17 for one side of the rows nio_jucx_*; nothing if there is none. It is not under test itself.
java17() {
  for home in "${JAVA_HOME_17_X64-}" /usr/lib/jvm/*17* /opt/*17* "${HOME-}"/.sdkman/candidates/java/17*; do
    if [ -n "$home" ] && [ -x "$home/bin/java" ] && grep -qs '^JAVA_VERSION="17\.' "$home/release"; then
      printf '%s\n' "$home"
      return
    fi
  done
}

make_share() {
  mkdir "$folder/share" "$folder/share/out" || exit 1
  : >"$folder/share/progress"
  : >"$folder/share/results"
  printf 'ROOT=%s\nJAVA_HOME=%s\nJAVA17_HOME=%s\nONLY=%s\npatience=%s\nBENCH=%s\n' "$(quoted "$ROOT")" \
    "$(quoted "$JAVA_HOME")" "$(quoted "$(java17)")" "$(quoted "$only")" "$patience" "$bench" >"$folder/share/job"
  mkdir "$folder/ram"
  cp "$ROOT/test/rdma-test/guest-init.sh" "$folder/ram/init"
  chmod 755 "$folder/ram/init"
  # The kernel unpacks archives that follow one another.
  { cat "$base/base.cpio" && (cd "$folder/ram" && echo init | cpio -o -H newc -R 0:0 --quiet); } >"$folder/initrd"
}

# A comma in a value is doubled in QEMU's options.
for_qemu() {
  printf '%s' "$1" | sed 's/,/,,/g'
}

# The end of this script, however it comes, is the end of QEMU.
boot() {
  # The ends of perftest's programs poll: with one processor they would wait for the scheduler.
  processors=1
  [ "$bench" = no ] || [ "$(nproc)" -lt 2 ] || processors=2
  set -- qemu-system-x86_64 -nodefaults -no-user-config -no-reboot -display none \
    -machine q35,hpet=off -accel tcg,thread=multi -cpu max,-la57 -smp "$processors" -m "$MEMORY_MB" \
    -kernel "$base/vmlinuz" -initrd "$folder/initrd" \
    -append "console=ttyS0 loglevel=4 panic=-1 mitigations=off nokaslr tsc=reliable no_timer_check" \
    -chardev "file,id=console,path=$(for_qemu "$folder/console")" -serial chardev:console \
    -fsdev local,id=root,path=/,security_model=none,readonly=on,multidevs=remap \
    -device virtio-9p-pci,fsdev=root,mount_tag=root \
    -fsdev "local,id=share,path=$(for_qemu "$folder/share"),security_model=none" \
    -device virtio-9p-pci,fsdev=share,mount_tag=share \
    -object rng-random,id=random,filename=/dev/urandom -device virtio-rng-pci,rng=random
  if command -v setpriv >/dev/null 2>&1; then
    set -- setpriv --pdeathsig KILL "$@"
  fi
  "$@" </dev/null >"$folder/qemu" 2>&1 &
  qemu=$!
}

running() {
  kill -0 "$qemu" 2>/dev/null
}

# Progress as it comes, each line with the seconds since the boot.
follow() {
  started=$(date +%s)
  shown=0
  quiet_until=15
  while :; do
    running && alive=yes || alive=
    seconds=$(($(date +%s) - started))
    lines=$(wc -l <"$folder/share/progress")
    if [ "$lines" -gt "$shown" ]; then
      sed -n "$((shown + 1)),${lines}p" "$folder/share/progress" | sed "s/^/  $(printf '%4d' "$seconds") s  /" >&2
      shown=$lines
      quiet_until=$((seconds + 30))
    elif [ "$seconds" -ge "$quiet_until" ]; then
      if [ "$shown" -eq 0 ]; then
        printf '  %4d s  booting\n' "$seconds" >&2
      else
        printf '  %4d s  ...\n' "$seconds" >&2
      fi
      quiet_until=$((seconds + 30))
    fi
    [ -n "$alive" ] || return 0
    [ "$seconds" -lt "$limit" ] || return 1
    sleep 1
  done
}

stop_qemu() {
  [ -n "${qemu-}" ] || return 0
  kill -KILL "$qemu" 2>/dev/null
  wait "$qemu" 2>/dev/null
  qemu=
}

# All that was written in the guest, in one file: the console, then each check.
write_log() {
  {
    printf '== QEMU\n'
    cat "$folder/qemu"
    printf '== console\n'
    tr -d '\r' <"$folder/console"
    sed -n 's/^running \([^ ]*\) .*/\1/p' "$folder/share/progress" | while read -r out; do
      printf '== %s\n' "$out"
      cat "$folder/share/out/$out" 2>/dev/null
    done
  } >"$folder/guest.log"
}

table() {
  awk -F '|' '
    BEGIN {
      format = "%-26s %-8s %8s %9s %9s %8s %9s  %s\n"
      printf format, "check", "result", "seconds", "pkts out", "pkts in", "sends", "receives", ""
    }
    { printf format, $1, $2, $3, $4, $5, $6, $7, $8 }
    $2 == "passed" { passed++ }
    END { printf "%d passed, %d failed\n", passed, NR - passed }' "$folder/share/results"
}

report() {
  write_log
  echo
  table | sed 's/ *$//' | tee "$folder/report.txt"
  last_step=$(tail -n 1 "$folder/share/progress")
  status=1
  if [ "$1" -ne 0 ]; then
    say "time limit of $limit s reached; the last step: ${last_step:-booting}"
  elif [ ! -f "$folder/share/status" ]; then
    say "the guest ended early; the last step: ${last_step:-booting}"
    tail -n 5 "$folder/guest.log" >&2
  elif [ ! -s "$folder/share/results" ]; then
    say "no check has run (--only $only); the last step: $last_step"
  else
    status=$(cat "$folder/share/status")
  fi
  if [ "$bench" = yes ] && grep -q '^ratio of' "$folder/share/out/bench" 2>/dev/null; then
    sed -n '/^ratio of/,/^--/p' "$folder/share/out/bench" | sed '/^--/d' | tee -a "$folder/report.txt"
    ! grep -q MISSED "$folder/share/out/bench" || status=$STATUS_MISSED
  fi
  echo "log: $folder/guest.log"
  return "$status"
}

clean_up() {
  stop_qemu
  [ -n "$folder" ] || return 0
  if [ -z "$keep" ]; then
    rm -rf "$folder/share" "$folder/ram" "$folder/initrd" "$folder/console" "$folder/qemu"
  fi
  rmdir "$folder" 2>/dev/null
}

parse "$@"
[ -n "${JAVA_HOME-}" ] || missing "JAVA_HOME is not set; ./talaria rdma-test finds a JDK"
ROOT=$(CDPATH='' cd "$(dirname "$0")/../.." && pwd -P) || exit 1
readonly ROOT
WORK=$ROOT/target/rdma-test
readonly WORK
mkdir -p "$WORK" || exit 1
folder=
trap clean_up EXIT
trap 'exit 130' INT TERM HUP

log=$WORK/packages.log
: >"$log"
need_packages
need_kernel
need_classes
folder=$(mktemp -d "$WORK/$(date +%Y%m%d-%H%M%S)-XXXX") || exit 1
make_share
say "booting $(cat "$base/version") under emulation (at most $limit s)"
: >"$folder/console"
boot
follow
in_time=$?
stop_qemu
report "$in_time"
