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

Fast networks for unmodified Java programs.

  demo              Netty echo on the JDK's sockets and on Talaria, side by side
  bench sockets     plain NIO on the JDK's sockets and on Talaria, side by side
  bench ucx         UCX from Java beside ucx_perftest, on one host or between two
  bench mpj         message passing from Java beside MPI in C and others (docs/mpj.md)
  bench NAME        netty, grpc, kvs, zookeeper, bookkeeper: applications on both (docs/workloads.md)
  bench messages    objects between JVMs, by messaging and by others (docs/messaging.md)
  example NAME      counter, echo, kvs, messages: small programs to try (docs/workloads.md)
  observe           libraries, patterns and sizes side by side, with a report (docs/observatory.md)
  run -- COMMAND    run any command with Talaria switched on in its JVMs
  ss                the live table of connections on this host, with transport and reason
  ports             ports of this host and of its InfiniBand fabric, and what they count (docs/monitor.md)
  top               ports, rates and connections in a live view (docs/monitor.md)
  doctor            what this machine can do, and what is missing
  mpirun -np N MAIN start the ranks of a message-passing program (docs/mpj.md)

  COMMAND --help    what it does, and its options
  --version         the version

chaos, soak and what builds or tests need the sources; they are not in a release.

Java 17 or newer is looked for in TALARIA_JAVA_HOME, JAVA_HOME and on the PATH; bench, example,
observe, ports, top and mpirun need 25. Exit status: 0 good, 1 failed, 2 wrong usage, 3 a target missed,
69 something is missing (Java, UCX), 78 a property cannot be used, 130 interrupted; of "run",
the command's own.
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

run_mpirun() {
  need_java "$FULL_JAVA" mpirun
  exec "$JAVA" -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -jar "$HOME_DIR/talaria-mpj.jar" "$@"
}

run_cli() {
  path="$HOME_DIR/lib/core/*"
  case " $* " in
    ' doctor '*' --nodes'*)
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
    [ $# -eq 0 ] || exec "$0" "$1" --help
    usage
    ;;
  -V | --version) printf 'talaria %s\n' "$(cat "$HOME_DIR/VERSION")" ;;
  run) run_command "$@" ;;
  mpirun) run_mpirun "$@" ;;
  build | test | package | fuzz | chaos | soak | rdma-test | ucx-example | verbs-example)
    missing "$command needs the sources, and is not in a release"
    ;;
  -*)
    say "unknown option $command; try: $NAME --help"
    exit "$STATUS_USAGE"
    ;;
  *)
    known_command "$command"
    check_name "$command" "${1-}"
    run_cli "$command" "$@"
    ;;
esac
