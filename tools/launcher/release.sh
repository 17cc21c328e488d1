#!/bin/sh
# Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0
#
# The command talaria of a release: Java 17 or newer is all it needs. talaria --help tells more.

set -u

readonly NAME=talaria
readonly OLDEST_JAVA=17
readonly FULL_JAVA=25

usage() {
  cat <<'END'
Usage: talaria COMMAND [ARGUMENTS]

Accelerates the TCP connections of unmodified Java programs: shared memory on one host,
InfiniBand or RoCE between hosts.

  demo                Run a Netty echo on the JDK's sockets, then on Talaria, and compare
  run -- COMMAND      Run a command, with Talaria's agent in every JVM that it starts
  ss                  List your processes' connections, with transport and reason
  doctor              Check this machine, and explain why connections are not accelerated
  ports               Show ports of this host or of its InfiniBand fabric, with their counters
  top                 Watch ports, rates and connections in a live view
  observe             Compare libraries, patterns and message sizes; write an HTML report
  bench sockets       Compare NIO on the JDK's sockets and on Talaria
  bench ucx           Compare UCX from Java with ucx_perftest, on one host or between two
  bench mpj           Compare message passing from Java with MPI in C and others
  bench messages      Compare messaging between JVMs with Aeron, gRPC, Netty and others
  bench NAME          netty, grpc, kvs, zookeeper, bookkeeper: applications
  example NAME        counter, echo, kvs, messages: run a small example program
  mpirun -np N MAIN   Start the ranks of a message-passing program
  mpitop              Show which rank of a message-passing job waits for which
  mpitune -np N       Measure which properties make message passing the fastest

  COMMAND --help      Describe the command and its options
  --version           Print the version

A release has no chaos, no soak, and no commands that build or test; they need the sources.

The launcher looks for Java 17 or newer in TALARIA_JAVA_HOME, JAVA_HOME and on the PATH; bench,
example, observe, ports, top, mpirun, mpitop and mpitune need Java 25. docs/index.md lists the guides.

Exit status: 0 success, 1 failure, 2 wrong usage, 3 a benchmark missed a target, 69 something is
missing (Java, UCX), 78 a talaria.* property is invalid, 130 interrupted. "run" ends with the
status of its command.
END
}

# The folder of the release: above that of this script, through symbolic links.
find_home() {
  script=$0
  while [ -L "$script" ]; do
    target=$(readlink "$script")
    case $target in
      /*) script=$target ;;
      *) script=$(dirname "$script")/$target ;;
    esac
  done
  CDPATH='' cd "$(dirname "$script")/.." && pwd -P
}

HOME_DIR=$(find_home) || exit 1
AGENT=$HOME_DIR/talaria.jar
. "$HOME_DIR/launcher/common.sh"
. "$HOME_DIR/launcher/run.sh"

# The feature version of the java at $1; nothing if it does not run.
java_version() {
  "$1" -XshowSettings:properties -version 2>&1 |
    sed -n 's/^ *java\.specification\.version = \(1\.\)\{0,1\}\([0-9]*\).*/\2/p'
}

# Sets JAVA to the first that is at least Java $1; $2 is what needs it.
need_java() {
  check_java_home
  seen=
  for JAVA in "${TALARIA_JAVA_HOME:+$TALARIA_JAVA_HOME/bin/java}" "${JAVA_HOME:+$JAVA_HOME/bin/java}" \
    "$(command -v java)"; do
    [ -n "$JAVA" ] && [ -x "$JAVA" ] || continue
    java=$(java_version "$JAVA")
    if [ "${java:-0}" -ge "$1" ]; then
      return 0
    fi
    # Nobody sets it to have another one taken.
    [ -z "${TALARIA_JAVA_HOME-}" ] ||
      missing "$2 needs Java $1 or newer, TALARIA_JAVA_HOME=$TALARIA_JAVA_HOME is Java ${java:-unknown}"
    seen="$seen, $JAVA is Java ${java:-unknown}"
  done
  missing "$2 needs Java $1 or newer${seen:-, and there is none}; set TALARIA_JAVA_HOME to its folder"
}

# Nothing is built here; the common parts ask for it.
ensure_built() {
  check_java_home
}

run_mpj() {
  need_java "$FULL_JAVA" "$command"
  exec "$JAVA" -XX:+UseSerialGC -XX:TieredStopAtLevel=1 --enable-native-access=ALL-UNNAMED \
    -cp "$(mpj_path "$HOME_DIR" "$@")" "$@"
}

run_cli() {
  path="$HOME_DIR/lib/core/*"
  case " $* " in
    ' doctor --nodes'* | ' doctor '*' --nodes'*)
      need_java "$FULL_JAVA" 'doctor --nodes'
      path="$path:$HOME_DIR/lib/*"
      ;;
    # Few jars, and so few descriptors: these are for hosts that have run out of them, too.
    ' ss '* | ' doctor '*) need_java "$OLDEST_JAVA" "$1" ;;
    ' ports '* | ' top '*) need_java "$FULL_JAVA" "$1" ;;
    ' demo '*)
      need_java "$OLDEST_JAVA" "$1"
      path="$path:$HOME_DIR/lib/*"
      ;;
    *)
      need_java "$FULL_JAVA" "$1"
      path="$path:$HOME_DIR/lib/*"
      ;;
  esac
  exec "$JAVA" -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Djava.awt.headless=true \
    --enable-native-access=ALL-UNNAMED -cp "$path" io.talaria.cli.Main "$@"
}

command=${1-}
[ $# -eq 0 ] || shift
case $command in
  '')
    usage
    exit "$STATUS_USAGE"
    ;;
  -h | --help) usage ;;
  help)
    [ $# -eq 0 ] || exec "$0" "$@" --help
    usage
    ;;
  -V | --version) printf 'talaria %s\n' "$(cat "$HOME_DIR/VERSION")" ;;
  run) run_command "$@" ;;
  mpirun) run_mpj io.talaria.mpj.launch.Mpirun "$@" ;;
  mpitop) run_mpj io.talaria.mpj.launch.Mpitop "$@" ;;
  mpitune) run_mpj io.talaria.mpj.tune.Mpitune "$@" ;;
  build | test | package | fuzz | chaos | soak | rdma-test | ucx-example | verbs-example)
    missing "$command needs the sources, and is not in a release"
    ;;
  -*)
    say "unknown option $command; try: $NAME --help"
    exit "$STATUS_USAGE"
    ;;
  *)
    known_command "$command"
    case "$command ${1-}" in
      'bench verbs' | 'bench ports' | 'bench kafka' | 'bench programs')
        missing "$command $1 needs the sources, and is not in a release"
        ;;
    esac
    check_name "$command" "${1-}"
    run_cli "$command" "$@"
    ;;
esac
