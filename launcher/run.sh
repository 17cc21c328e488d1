# Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0
#
# Runs a command with Talaria switched on. Sourced by the launcher.

run_usage() {
  cat <<END
Usage: $NAME run [-Dtalaria.NAME=VALUE]... [--] COMMAND [ARGUMENTS]

Runs any command; the JVMs that it starts get Talaria's agent, by JAVA_TOOL_OPTIONS, and with
it the properties given here. What runs on Java before 17 says so, and goes on without.

Exit status: the command's own; 69 if a JDK or Maven is missing, 2 for wrong usage. A JVM
whose properties cannot be used ends with 78, before its program starts.

  $NAME run -- java -jar app.jar
  $NAME run -Dtalaria.quiet=true -- bin/kafka-server-start.sh config/server.properties
  $NAME run -Dtalaria.spin.ns=50000 -- sh -c 'java Server & java Client'
END
}

# Adds a word to the options in JAVA_TOOL_OPTIONS; the JVM knows quotes there.
add_option() {
  case $1 in
    *[[:space:]]*) word="'$1'" ;;
    *) word=$1 ;;
  esac
  options="${options:+$options }$word"
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
  JAVA_TOOL_OPTIONS="$options${JAVA_TOOL_OPTIONS:+ $JAVA_TOOL_OPTIONS}"
  export JAVA_TOOL_OPTIONS
  exec "$@"
}

run_bench_verbs() {
  compile_tests ffi,verbs verbs/target/bench.log
  cd "$ROOT" || exit "$STATUS_FAILED"
  exec "$JAVA_HOME/bin/java" --enable-native-access=ALL-UNNAMED -XX:+UseSerialGC \
    -cp "$ROOT/ffi/target/classes:$ROOT/verbs/target/classes:$ROOT/verbs/target/test-classes:$ROOT/verbs/target/test-lib/*" \
    io.talaria.verbs.BindingBench "$@"
}

# Runs class $1 of the self-contained jar of mpj, which is built if it is older than its sources.
run_mpj() {
  need_jdk
  MPJ=$ROOT/dist/talaria-mpj.jar
  if [ ! -f "$MPJ" ] || [ -n "$(find "$ROOT/pom.xml" "$ROOT/mpj/pom.xml" "$ROOT/mpj/src/main" \
    "$ROOT/ffi/src/main" -newer "$MPJ" -print | head -n 1)" ]; then
    need_maven
    mkdir -p "$ROOT/dist"
    say "building with $JAVA_HOME (once; log in dist/build-mpj.log)"
    if ! (cd "$ROOT" && "$MVN" -B -Dmaven.test.skip=true -DskipTests -pl ffi,mpj package) \
      >"$ROOT/dist/build-mpj.log" 2>&1; then
      grep -E '^\[ERROR\]' "$ROOT/dist/build-mpj.log" | head -n 20 >&2
      say "the build failed; all of it is in $ROOT/dist/build-mpj.log"
      exit "$STATUS_FAILED"
    fi
  fi
  main=$1
  shift
  exec "$JAVA_HOME/bin/java" -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -cp "$MPJ" "$main" "$@"
}
