# Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0
#
# Tests at length, each a command of its own. Sourced by the launcher.

chaos_usage() {
  cat <<'END'
Usage: ./talaria chaos [--minutes N] [--seed S] [--connections N] [--jdk-sockets]
       ./talaria chaos --random [--minutes N] [--seed S] [--jdk-sockets]
       ./talaria chaos --messages [--minutes N] [--seed S]

Runs five JVMs that keep connections to each other, with blocking calls and with selectors, and
check every byte. Meanwhile JVMs are killed and restarted, or stopped and continued; shared memory
fills up and is freed, and file descriptors run out. Prints its progress, then a table.
docs/failure.md describes the checks.

With --random: generates programs from a seed and runs one after the other. Each has one to three
JVMs, whose threads select, read, write, cancel keys, register with other selectors, close, shut
down and interrupt at random times. Every request must be answered within a second, or later on a
busy machine. Otherwise it prints the seed, where the wake-up was lost, and the file with all
stack traces. It runs on shared memory, then as long on UCX if UCX is installed.

With --messages: runs four nodes of messaging, each in a JVM of its own, that send messages and
requests to each other, while JVMs are killed and restarted, or stopped and continued. Each
message must be delivered at most once, complete and in order, and each missing one must be
reported as lost. It runs on shared memory, then as long on TCP, and on UCX if UCX is installed.

  --random          run random programs instead of the five JVMs
  --messages        run nodes of messaging instead of the five JVMs
  --minutes N       duration, with --random and --messages on each transport (default: 2)
  --seed S          seed of the events and their times (default: random, printed at the start)
  --connections N   total number of open connections (default: 64)
  --jdk-sockets     run on the JDK's sockets, without Talaria, for comparison

To fill shared memory it mounts a small tmpfs, which needs root; without root it skips that.

Exit status: 0 passed, 1 failed, 2 wrong usage, 69 a JDK or Maven is missing.

  ./talaria chaos                           two minutes, as in ./talaria test --all
  ./talaria chaos --minutes 60 --connections 300
  ./talaria chaos --seed 12345              the same events again
  ./talaria chaos --random --minutes 30     random programs for 30 minutes
END
}

soak_usage() {
  cat <<'END'
Usage: ./talaria soak [--messages] [--connects N]

Opens and closes connections between two JVMs again and again; each connection exchanges messages
until it is accelerated. Prints resident memory, live objects, file descriptors and mappings of
both JVMs. All of them must level off, and be released at the end.

With --messages: nodes of messaging start, exchange messages with a node that stays, and stop, all
in one process; by shared memory, then by TCP, by UCX if it is installed, and by verbs in memory.

  --messages        start and stop nodes of messaging instead of opening connections
  --connects N      number of connections (default: 1000000, about ten minutes); with --messages
                    number of nodes, at least 20 (default: 10000)

Exit status: 0 passed, 1 failed, 2 wrong usage, 69 a JDK or Maven is missing.

  ./talaria soak --connects 20000           as in ./talaria test --all
END
}

fuzz_usage() {
  cat <<'END'
Usage: ./talaria fuzz [--inputs N] [--seed S] [--case N]

Acts as a hostile peer: sends arbitrary bytes in the negotiation, writes arbitrary bytes to shared
memory and to the control connection while programs read, write and select, and damages counters
files. Well-behaved connections run at the same time and are checked. See docs/threat-model.md.

  --inputs N        number of inputs (default: 1000000, which takes some minutes)
  --seed S          seed of the cases (default: random, printed at the start)
  --case N          run only this case of the seed; a finding prints its number

Exit status: 0 nothing found, 1 a finding, with the command that reproduces it, 2 wrong usage,
69 a JDK or Maven is missing.

  ./talaria fuzz --inputs 200000 --seed 42
END
}

# Option $1 needs a whole number, $2, from $3 to $4, which has at most 18 digits.
need_number() {
  case $2 in
    '' | *[!0-9]* | ???????????????????*) ;;
    *) [ "$2" -lt "$3" ] || [ "$2" -gt "$4" ] || return 0 ;;
  esac
  say "$1 needs a whole number from $3 to $4${2:+, not $2}"
  exit "$STATUS_USAGE"
}

run_chaos() {
  TALARIA_CHAOS_SECONDS=120
  chaos_test=ChaosTest
  chaos_module=test/it
  chaos_runs=2
  chaos_kind=
  chaos_connections=
  chaos_sockets=
  chaos_refused=
  while [ $# -gt 0 ]; do
    case $1 in
      -h | --help)
        chaos_usage
        exit 0
        ;;
      --random | --messages)
        [ "${chaos_kind:-$1}" = "$1" ] || {
          say "chaos: either --random or --messages; try: ./talaria chaos --help"
          exit "$STATUS_USAGE"
        }
        chaos_kind=$1
        shift
        continue
        ;;
      --jdk-sockets)
        export TALARIA_CHAOS_SOCKETS=jdk
        chaos_sockets=$1
        shift
        continue
        ;;
      --minutes) need_number "$1" "${2-}" 1 10000 ;;
      --seed) need_number "$1" "${2-}" 0 999999999999999999 ;;
      --connections) need_number "$1" "${2-}" 1 10000 ;;
      *) unknown_option chaos "$1" ;;
    esac
    case $1 in
      --minutes) TALARIA_CHAOS_SECONDS=$(($2 * 60)) ;;
      --seed) export TALARIA_CHAOS_SEED="$2" ;;
      --connections)
        export TALARIA_CHAOS_CONNECTIONS="$2"
        chaos_connections=$1
        ;;
    esac
    shift 2
  done
  case $chaos_kind in
    --random)
      chaos_test='StressTest#everyRequestIsAnswered'
      chaos_refused=$chaos_connections
      ;;
    --messages)
      chaos_test=NodesStormTest
      chaos_module=messaging/messaging
      chaos_runs=3
      chaos_refused=${chaos_connections:-$chaos_sockets}
      ;;
  esac
  if [ -n "$chaos_refused" ]; then
    say "chaos: $chaos_refused does not go with $chaos_kind; try: ./talaria chaos --help"
    exit "$STATUS_USAGE"
  fi
  export TALARIA_CHAOS_SECONDS
  export TALARIA_STRESS_SECONDS="$TALARIA_CHAOS_SECONDS"
  if [ -n "${TALARIA_CHAOS_SEED-}" ]; then
    export TALARIA_STRESS_SEED="$TALARIA_CHAOS_SEED"
  fi
  run_one_test "$chaos_test" $((chaos_runs * TALARIA_CHAOS_SECONDS + 3000)) "$chaos_module"
}

run_soak() {
  TALARIA_SOAK_CONNECTS=
  soak_messages=
  while [ $# -gt 0 ]; do
    case $1 in
      -h | --help)
        soak_usage
        exit 0
        ;;
      --connects)
        need_number "$1" "${2-}" 1 1000000000
        TALARIA_SOAK_CONNECTS=$2
        shift 2
        ;;
      --messages)
        soak_messages=yes
        shift
        ;;
      *) unknown_option soak "$1" ;;
    esac
  done
  if [ -n "$soak_messages" ]; then
    TALARIA_SOAK_NODES=${TALARIA_SOAK_CONNECTS:-10000}
    need_number --connects "$TALARIA_SOAK_NODES" 20 1000000000
    export TALARIA_SOAK_NODES
    run_one_test NodesSoakTest 86400 messaging/messaging
  fi
  TALARIA_SOAK_CONNECTS=${TALARIA_SOAK_CONNECTS:-1000000}
  export TALARIA_SOAK_CONNECTS
  run_one_test SoakTest 86400
}

run_fuzz() {
  for option in "$@"; do
    case $option in
      -h | --help)
        fuzz_usage
        exit 0
        ;;
    esac
  done
  options=
  while [ $# -gt 0 ]; do
    case $1 in
      --inputs) need_number "$1" "${2-}" 1 999999999999999999 ;;
      --seed | --case) need_number "$1" "${2-}" 0 999999999999999999 ;;
      *) unknown_option fuzz "$1" ;;
    esac
    options="$options $1 $2"
    shift 2
  done
  compile_tests core/nio core/nio/target/fuzz.log
  # A small heap, so that memory without bound shows. The options have no spaces.
  # shellcheck disable=SC2086
  exec "$JAVA_HOME/bin/java" -Xmx256m -ea --add-exports java.base/sun.nio.ch=ALL-UNNAMED \
    -cp "$ROOT/core/nio/target/classes:$ROOT/core/nio/target/test-classes" io.talaria.nio.fuzz.FuzzMain $options
}

# Compiles the modules $1 with their tests; what Maven says goes to the file $2.
compile_tests() {
  need_jdk
  need_maven
  mkdir -p "$(dirname "$ROOT/$2")"
  say "compiling with $JAVA_HOME (log in $2)"
  if ! (cd "$ROOT" && "$MVN" -B -DskipTests -pl "$1" -am test-compile) >"$ROOT/$2" 2>&1; then
    grep -E '^\[ERROR\]' "$ROOT/$2" | head -n 20 >&2
    say "the compilation failed; its log is $ROOT/$2"
    exit "$STATUS_FAILED"
  fi
}

# Builds, then runs the test class $1 of module $3 (it), for at most $2 seconds. What it prints is
# shown at once, and it has one try.
run_one_test() {
  need_jdk
  need_maven
  say "building with $JAVA_HOME, then $1"
  cd "$ROOT" || exit "$STATUS_FAILED"
  exec "$MVN" -B -q -Dstyle.color=never -pl "${3:-test/it}" -am verify \
    -Dtest="$1" -Dsurefire.failIfNoSpecifiedTests=false -Dtest.limit.seconds="$2" \
    -Dmaven.test.redirectTestOutputToFile=false -Dsurefire.rerunFailingTestsCount=0
}

run_rdma_test() {
  for argument in "$@"; do
    case $argument in
      -h | --help) exec "$ROOT/test/rdma-test/run.sh" --help ;;
    esac
  done
  need_jdk
  exec "$ROOT/test/rdma-test/run.sh" "$@"
}

ucx_example_usage() {
  cat <<'END'
Usage: ./talaria ucx-example [--listen PORT | --remote HOST:PORT] [NAME]...

Runs the named examples of UCX from Java, or all of them. Without --listen and --remote both sides
run in one JVM. docs/ucx.md explains the examples.

Examples: messaging, streaming, active-messages, remote-memory, atomics, wake-up

  --listen PORT       run the listening side only, and wait for the other side
  --remote HOST:PORT  run the connecting side only

Exit status: 0 all examples passed, 1 one failed, 2 wrong usage, 69 a JDK, Maven or UCX is missing.

  ./talaria ucx-example messaging
  ./talaria ucx-example --listen 7471 streaming
  ./talaria ucx-example --remote localhost:7471 streaming
END
}

run_ucx_example() {
  names='messaging streaming active-messages remote-memory atomics wake-up'
  side=
  place=
  chosen=
  while [ $# -gt 0 ]; do
    case $1 in
      -h | --help)
        ucx_example_usage
        exit 0
        ;;
      --listen | --remote | --connect)
        [ $# -ge 2 ] && [ -z "$side" ] || {
          say "ucx-example: $1 needs its argument, and may be given only once; try: ./talaria ucx-example --help"
          exit "$STATUS_USAGE"
        }
        place=$2
        side=$1
        shift
        ;;
      -*) unknown_option ucx-example "$1" ;;
      *)
        case " $names " in
          *" $1 "*) chosen="$chosen $1" ;;
          *) wrong_word "ucx-example: no example $1" "$1" "$names" "there are: $names" ;;
        esac
        ;;
    esac
    shift
  done
  [ "$side" = --listen ] && need_number --listen "$place" 0 65535
  case $side$place in
    --listen* | '' | *?:[0-9]*) ;;
    *)
      say "$side needs HOST:PORT, not $place"
      exit "$STATUS_USAGE"
      ;;
  esac
  [ "$side" = --remote ] && side=--connect
  compile_tests core/ffi,network/ucx network/ucx/target/examples.log
  set -- # the names have no spaces
  [ -z "$side" ] || set -- "$side" "$place"
  # shellcheck disable=SC2086
  exec "$JAVA_HOME/bin/java" --enable-native-access=ALL-UNNAMED -XX:+UseSerialGC \
    -cp "$ROOT/core/ffi/target/classes:$ROOT/network/ucx/target/classes:$ROOT/network/ucx/target/test-classes" \
    io.talaria.ucx.examples.Examples "$@" $chosen
}
