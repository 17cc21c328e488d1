# Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0
#
# Runs a command with Talaria switched on. Sourced by the launcher.

run_usage() {
  cat <<END
Usage: $NAME run [-Dtalaria.NAME=VALUE]... [--] COMMAND [ARGUMENTS]

Runs a command. Every JVM that it starts loads Talaria's agent, with the properties given here
(by JAVA_TOOL_OPTIONS). A JVM older than Java 17 prints a warning and runs without Talaria.

Exit status: that of the command; 2 wrong usage, 69 a JDK or Maven is missing. A JVM with an
invalid property ends with 78 before its program starts.

  $NAME run -- java -jar app.jar
  $NAME run -Dtalaria.quiet=true -- bin/kafka-server-start.sh config/server.properties
  $NAME run -Dtalaria.spin.ns=50000 -- sh -c 'java Server & java Client'
END
}

# Adds a word to the options in JAVA_TOOL_OPTIONS. The JVM removes quotes there, anywhere in a word, and knows no
# backslash: a single quote becomes '"'"'.
add_option() {
  case $1 in
    *[[:space:]\'\"]*) word="'$(printf '%s\n' "$1" | sed "s/'/'\"'\"'/g")'" ;;
    *) word=$1 ;;
  esac
  options="${options:+$options }$word"
}

# What UCX reads from the environment alone, and Java 17 cannot set; what the user has set stays. Logs would go to
# standard output, which is the program's, UCX would catch a signal of the JVM's own while it is loaded, and its
# shared memory would find no dead peer.
set_ucx_environment() {
  case " $options ${JAVA_TOOL_OPTIONS-} " in
    *-Dtalaria.transports=*ucx* | *-Dtalaria.rules=*)
      export UCX_LOG_FILE="${UCX_LOG_FILE-stderr}"
      export UCX_HANDLE_ERRORS="${UCX_HANDLE_ERRORS-none}"
      export UCX_WARN_UNUSED_ENV_VARS="${UCX_WARN_UNUSED_ENV_VARS-n}"
      export UCX_POSIX_ERROR_HANDLING="${UCX_POSIX_ERROR_HANDLING-y}"
      ;;
  esac
}

run_command() {
  options=
  add_option "-javaagent:$AGENT"
  while [ $# -gt 0 ]; do
    case $1 in
      --)
        shift
        break
        ;;
      -Dtalaria.*=*) add_option "$1" ;;
      -h | --help)
        run_usage
        exit 0
        ;;
      -*) unknown_option run "$1" ;;
      *) break ;;
    esac
    shift
  done
  if [ $# -eq 0 ]; then
    say "run: which command? for example: $NAME run -- java -jar app.jar"
    exit "$STATUS_USAGE"
  fi
  ensure_built
  set_ucx_environment
  JAVA_TOOL_OPTIONS="$options${JAVA_TOOL_OPTIONS:+ $JAVA_TOOL_OPTIONS}"
  export JAVA_TOOL_OPTIONS
  exec "$@"
}

# The file $2 that --json of command $1 names, as an absolute path; - stays.
json_place() {
  case $2 in
    '')
      say "$1: --json needs a file, or - for the standard output"
      exit "$STATUS_USAGE"
      ;;
    - | /*) place=$2 ;;
    *) place=$PWD/$2 ;;
  esac
  folder=$(dirname "$place")
  there=$place
  [ -e "$place" ] || there=$folder
  fault=
  if [ "$place" = - ]; then
    :
  elif ! [ -d "$folder" ]; then
    fault="there is no folder $folder"
  elif [ -d "$place" ]; then
    fault="$place is a folder"
  elif ! [ -w "$there" ]; then
    fault="no permission to write $place"
  fi
  if [ -n "$fault" ]; then
    say "$1: --json: $fault"
    exit "$STATUS_USAGE"
  fi
  printf '%s\n' "$place"
}

bench_verbs_usage() {
  cat <<'END'
Usage: ./talaria bench verbs --binding [--json FILE]

Measures posting and polling of work requests through the Java binding, and the same loop in C.
It runs on a provider that does nothing and needs no RDMA device.
It needs gcc, libibverbs-dev and librdmacm-dev.

  --binding         measure the time and the allocated bytes of a call
  --json FILE       write the results of every iteration to FILE as JSON; with -, write them to
                    standard output, and the text for people to standard error

Exit status: 0 done, 1 failed, 2 wrong usage, 3 the target was missed, 69 a JDK, Maven, gcc or
headers are missing.

  ./talaria bench verbs --binding
END
}

run_bench_verbs() {
  what=
  json=
  while [ $# -gt 0 ]; do
    case $1 in
      -h | --help)
        bench_verbs_usage
        exit 0
        ;;
      --binding) what="$what $1" ;;
      --json)
        json=$(json_place 'bench verbs' "${2-}") || exit $?
        shift
        ;;
      *) unknown_option 'bench verbs' "$1" ;;
    esac
    shift
  done
  if [ "$what" != ' --binding' ]; then
    say "bench verbs: --binding is what there is, once; try: $NAME bench verbs --help"
    exit "$STATUS_USAGE"
  fi
  compile_tests core/ffi,network/verbs network/verbs/target/bench.log
  cd "$ROOT" || exit "$STATUS_FAILED"
  exec "$JAVA_HOME/bin/java" --enable-native-access=ALL-UNNAMED -XX:+UseSerialGC \
    -cp "$ROOT/core/ffi/target/classes:$ROOT/network/verbs/target/classes:$ROOT/network/verbs/target/test-classes:$ROOT/network/verbs/target/test-lib/*:$ROOT/test/test-support/target/classes" \
    io.talaria.verbs.BindingBench ${json:+"$json"}
}

bench_ports_usage() {
  cat <<'END'
Usage: ./talaria bench ports --fabric | --top [--json FILE]

Measures what monitoring costs. docs/monitor.md explains the results.

  --fabric          compare reading all port counters of a simulated fabric with one call of
                    perfquery -x per port; needs ibsim-utils, opensm and infiniband-diags
  --top             measure the CPU use of talaria top with eight ports; needs tmux, takes two
                    minutes
  --json FILE       write the results of every iteration to FILE as JSON; with -, write them to
                    standard output, and the text for people to standard error

Exit status: 0 done, 1 failed, 2 wrong usage, 3 the target was missed, 69 a JDK, Maven or a tool
named above is missing.

  ./talaria bench ports --fabric
  ./talaria bench ports --top --json ports.json
END
}

run_bench_ports() {
  what=
  json=
  while [ $# -gt 0 ]; do
    case $1 in
      -h | --help)
        bench_ports_usage
        exit 0
        ;;
      --fabric | --top) what="$what $1" ;;
      --json)
        json=$(json_place 'bench ports' "${2-}") || exit $?
        shift
        ;;
      *) unknown_option 'bench ports' "$1" ;;
    esac
    shift
  done
  case $what in
    ' --fabric')
      compile_tests core/ffi,tools/monitor tools/monitor/target/bench.log
      exec "$JAVA_HOME/bin/java" --enable-native-access=ALL-UNNAMED -XX:+UseSerialGC \
        -cp "$ROOT/core/ffi/target/classes:$ROOT/tools/monitor/target/classes:$ROOT/tools/monitor/target/test-classes" \
        io.talaria.monitor.fabric.FabricBench ${json:+"$json"}
      ;;
    ' --top')
      ensure_built
      compile_tests core/ffi,core/nio,tools/monitor,tools/cli tools/cli/target/bench.log
      exec "$JAVA_HOME/bin/java" --enable-native-access=ALL-UNNAMED -XX:+UseSerialGC \
        -cp "$(class_path):$ROOT/tools/cli/target/test-classes:$ROOT/test/test-support/target/classes" io.talaria.cli.top.TopBench ${json:+"$json"}
      ;;
  esac
  say "bench ports: either --fabric or --top; try: $NAME bench ports --help"
  exit "$STATUS_USAGE"
}

verbs_example_usage() {
  cat <<'END'
Usage: ./talaria verbs-example [--device NAME | --simulated] [NAME]...

Runs the named examples of RDMA verbs from Java, or all of them. Both sides run in one JVM, on an
RDMA device of this host. docs/verbs.md explains the examples; their sources are in
network/verbs/src/test/java/io/talaria/verbs/examples.

  ping-pong         send messages there and back on a reliable connection
  read-write        read and write remote memory
  atomics           increment a counter in remote memory
  shared-queue      share one receive queue among several connections
  sleeping          wait for a completion without spinning
  datagrams         send messages without a connection
  connecting        RDMA CM: listen, connect, accept, private data, disconnect

  --device NAME     the RDMA device (default: the first one)
  --simulated       use the tests' simulated provider instead of a device; it shows the calls, not
                    RDMA; needs gcc, libibverbs-dev and librdmacm-dev

Exit status: 0 all examples passed, 1 one failed, 2 wrong usage, 69 a JDK, Maven, libibverbs or a
device is missing.

  ./talaria verbs-example ping-pong
  ./talaria verbs-example --device rxe0 read-write atomics
  ./talaria verbs-example --simulated
END
}

run_verbs_example() {
  names='ping-pong read-write atomics shared-queue sleeping datagrams connecting'
  device=
  simulated=
  chosen=
  while [ $# -gt 0 ]; do
    case $1 in
      -h | --help)
        verbs_example_usage
        exit 0
        ;;
      --simulated) simulated=yes ;;
      --device)
        case ${2-} in
          '' | *[!A-Za-z0-9_.-]*)
            say "verbs-example: --device needs the name of a device${2:+, not $2}"
            exit "$STATUS_USAGE"
            ;;
        esac
        device=$2
        shift
        ;;
      -*) unknown_option verbs-example "$1" ;;
      *)
        case " $names " in
          *" $1 "*) chosen="$chosen $1" ;;
          *) wrong_word "verbs-example: no example $1" "$1" "$names" "there are: $names" ;;
        esac
        ;;
    esac
    shift
  done
  if [ -n "$simulated" ] && [ -n "$device" ]; then
    say "verbs-example: --simulated has no --device; try: $NAME verbs-example --help"
    exit "$STATUS_USAGE"
  fi
  compile_tests core/ffi,network/verbs network/verbs/target/examples.log
  cd "$ROOT" || exit "$STATUS_FAILED"
  set -- # the names have no spaces
  [ -z "$device" ] || set -- --device "$device"
  [ -z "$simulated" ] || set -- --simulated
  # shellcheck disable=SC2086
  exec "$JAVA_HOME/bin/java" --enable-native-access=ALL-UNNAMED -XX:+UseSerialGC \
    -cp "$ROOT/core/ffi/target/classes:$ROOT/network/verbs/target/classes:$ROOT/network/verbs/target/test-classes:$ROOT/network/verbs/target/test-lib/*:$ROOT/test/test-support/target/classes" \
    io.talaria.verbs.examples.Examples "$@" $chosen
}

# The jars of message passing in folder $1, for the command that follows. The examples and kernels are there only
# for a command that names one, so that other programs have the library alone on their class path.
mpj_path() {
  folder=$1
  shift
  case " $* " in
    *' io.talaria.mpj.examples.'* | *' io.talaria.mpj.kernels.'*)
      printf '%s\n' "$folder/talaria-mpj.jar:$folder/talaria-mpj-examples.jar"
      ;;
    *) printf '%s\n' "$folder/talaria-mpj.jar" ;;
  esac
}

# Runs a class of the self-contained jar of mpj; for its help alone nothing is built. Behind other words --help may
# be the program's.
run_mpj() {
  case ${2-} in
    -h | --help | -help)
      if [ ! -f "$ROOT/dist/talaria-mpj.jar" ]; then
        usage | sed -n "s/^  \($command .*\)/talaria \1/p"
        echo "To see its options, run ./talaria build $command, then ./talaria $command --help again."
        exit 0
      fi
      need_jdk
      ;;
    *) build_mpj ;;
  esac
  exec "$JAVA_HOME/bin/java" -XX:+UseSerialGC -XX:TieredStopAtLevel=1 --enable-native-access=ALL-UNNAMED \
    -cp "$(mpj_path "$ROOT/dist" "$@")" "$@"
}

# Builds the self-contained jar of mpj and the jar of the examples if one is missing, or older than its sources;
# they are built together.
build_mpj() {
  need_jdk
  MPJ=$ROOT/dist/talaria-mpj.jar
  EXAMPLES=$ROOT/dist/talaria-mpj-examples.jar
  if [ ! -f "$MPJ" ] || [ ! -f "$EXAMPLES" ] || [ -n "$(find "$ROOT/pom.xml" \
    "$ROOT/message-passing/mpj/pom.xml" "$ROOT/message-passing/mpj/src/main" \
    "$ROOT/core/ffi/src/main" "$ROOT/network/ucx/src/main" "$ROOT/network/verbs/src/main" \
    "$ROOT/core/nio/pom.xml" "$ROOT/core/nio/src/main" -newer "$MPJ" -print | head -n 1)" ] ||
    [ -n "$(find "$ROOT/message-passing/mpj-examples/pom.xml" "$ROOT/message-passing/mpj-examples/src/main" \
      -newer "$EXAMPLES" -print | head -n 1)" ]; then
    need_maven
    mkdir -p "$ROOT/dist"
    say "building with $JAVA_HOME (once; log in dist/build-mpj.log)"
    if ! (cd "$ROOT" && "$MVN" -B -Dmaven.test.skip=true -DskipTests -pl message-passing/mpj-examples -am package) \
      >"$ROOT/dist/build-mpj.log" 2>&1; then
      grep -E '^\[ERROR\]' "$ROOT/dist/build-mpj.log" | head -n 20 >&2
      say "the build failed; all of it is in $ROOT/dist/build-mpj.log"
      exit "$STATUS_FAILED"
    fi
  fi
}
