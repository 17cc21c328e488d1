# Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0
#
# Builds what the commands in Java need, if need be, and runs them. Sourced by the launcher.

CLI=$ROOT/tools/cli/target/talaria-cli.jar
BENCH=$ROOT/benchmarks/bench/target/talaria-bench.jar
WORKLOADS=$ROOT/applications/workloads/target/talaria-workloads.jar
PROGRAMS=$ROOT/applications/bench-programs/target/talaria-bench-programs.jar
STAMP=$ROOT/dist/.built
# The modules that a command needs, those that they need included.
WANTED='core/nio core/ffi core/agent network/ucx network/verbs network/verbs-net network/nio-ucx'
WANTED="$WANTED network/nio-ucx-ffm network/nio-jucx tools/monitor tools/cli benchmarks/bench"

build_usage() {
  cat <<'END'
Usage: ./talaria build [bench NAME | example NAME | mpirun]

Builds dist/talaria.jar and the command line, without tests, if a source is newer. With bench or
example it also builds what that benchmark or example needs. With mpirun, mpitop or mpitune it
builds what these three need instead.

Other commands build what they need by themselves. COMMAND --help does not: build first to see
the options of a command in Java.

Exit status: 0 built, 1 the build failed (log: dist/build.log), 2 wrong usage, 69 a JDK or Maven
is missing.

  ./talaria build
  ./talaria build bench kvs
END
}

# Whether a module's jar is there with the libraries beside it, which a build without it deletes.
is_complete() {
  [ -f "$1" ] && [ -d "${1%/*}/lib" ]
}

# Whether something is missing, or a source is newer than the last build, of $WANTED.
stale() {
  [ -f "$AGENT" ] && [ -f "$CLI" ] && [ -f "$BENCH" ] || return 0
  for module in $WANTED; do
    stamp=$STAMP
    case $module in
      */workloads)
        stamp=$STAMP-workloads
        is_complete "$WORKLOADS" || return 0
        ;;
      */bench-programs)
        stamp=$STAMP-programs
        is_complete "$PROGRAMS" || return 0
        ;;
    esac
    [ -f "$stamp" ] || return 0
    [ -z "$(find "$ROOT/pom.xml" "$ROOT/.mvn" "$ROOT/$module/pom.xml" "$ROOT/$module/src/main" \
      -newer "$stamp" -print 2>/dev/null | head -n 1)" ] || return 0
  done
  return 1
}

build_now() {
  need_jdk
  need_maven
  say "building with $JAVA_HOME (once, about a minute; log in dist/build.log)"
  # Older than every source that changes while the build runs.
  : >"$STAMP.new"
  rm -rf "$ROOT/benchmarks/bench/target/lib" "$ROOT/applications/workloads/target/lib" "$ROOT/applications/bench-programs/target/lib"
  if ! (cd "$ROOT" && "$MVN" -B -Dmaven.test.skip=true -DskipTests \
    -pl "$(printf '%s\n' "$WANTED" | tr ' ' ,)" -am package) >"$ROOT/dist/build.log" 2>&1; then
    grep -E '^\[ERROR\]' "$ROOT/dist/build.log" | head -n 20 >&2
    rm -f "$STAMP.new"
    say "the build failed; all of it is in $ROOT/dist/build.log"
    exit "$STATUS_FAILED"
  fi
  case $WANTED in
    *workloads*) cp -p "$STAMP.new" "$STAMP-workloads" ;;
    *) rm -f "$STAMP-workloads" ;;
  esac
  case $WANTED in
    *bench-programs) cp -p "$STAMP.new" "$STAMP-programs" ;;
    *) rm -f "$STAMP-programs" ;;
  esac
  mv "$STAMP.new" "$STAMP"
}

# Builds $WANTED if need be, one build at a time where there is flock. In a subshell: the command of
# "run" shall not see the JAVA_HOME of the build.
ensure_built() {
  check_java_home
  stale || return 0
  mkdir -p "$ROOT/dist" || exit "$STATUS_FAILED"
  (
    if command -v flock >/dev/null 2>&1; then
      flock 9
    fi
    ! stale || build_now
  ) 9>"$ROOT/dist/.lock" || exit $?
}

run_build() {
  if asks_for_help "$@"; then
    build_usage
    exit 0
  fi
  case ${1-} in
    '') ;;
    bench | example)
      check_name "$@"
      want "$@"
      ;;
    mpirun | mpitop | mpitune)
      build_mpj
      say "built: $MPJ"
      exit 0
      ;;
    *) unknown_option build "$1" ;;
  esac
  ensure_built
  say "built: $AGENT"
}

# The jars of a command, in a fixed order. Those that look at what runs get few, because each is a
# descriptor, and they are for hosts that have run out of them, too.
class_path() {
  path=$CLI
  if looks "$@"; then
    for jar in "$ROOT"/tools/cli/target/lib/*.jar; do
      path=$path:$jar
    done
    printf '%s\n' "$path"
    return 0
  fi
  path=$path:$BENCH
  for jar in "$ROOT"/benchmarks/bench/target/lib/*.jar; do
    path=$path:$jar
  done
  case $WANTED in
    *workloads*)
      path=$path:$WORKLOADS
      for jar in "$ROOT"/applications/workloads/target/lib/*.jar; do
        [ -f "$ROOT/benchmarks/bench/target/lib/${jar##*/}" ] || path=$path:$jar
      done
      ;;
  esac
  case $WANTED in
    *bench-programs)
      path=$path:$PROGRAMS
      for jar in "$ROOT"/applications/bench-programs/target/lib/*.jar; do
        [ -f "$ROOT/benchmarks/bench/target/lib/${jar##*/}" ] ||
          [ -f "$ROOT/applications/workloads/target/lib/${jar##*/}" ] || path=$path:$jar
      done
      ;;
  esac
  printf '%s\n' "$path"
}

# Whether the command needs nothing but the module cli.
looks() {
  case ${1-} in
    ss | ports | top) return 0 ;;
    doctor) ! needs_workloads "$@" ;;
    *) return 1 ;;
  esac
}

# Whether the command needs the module workloads, whose libraries the others do without.
needs_workloads() {
  case ${1-}:${2-} in
    example:*) return 0 ;;
    bench:sockets | bench:ucx) return 1 ;;
    bench:*) return 0 ;;
    doctor:*)
      case " $* " in
        *' --nodes'*) return 0 ;;
      esac
      return 1
      ;;
    *) return 1 ;;
  esac
}

# Whether the command needs servers and clients of other projects: a hundred jars.
needs_programs() {
  case ${1-}:${2-} in
    bench:programs | bench:kafka) return 0 ;;
    *) return 1 ;;
  esac
}

# Whether the words ask for help only; what follows -- belongs to somebody else.
asks_for_help() {
  for word in "$@"; do
    case $word in
      --) return 1 ;;
      -h | --help) return 0 ;;
    esac
  done
  return 1
}

# Adds to $WANTED what the command needs.
want() {
  if needs_workloads "$@"; then
    WANTED="$WANTED message-passing/mpj message-passing/mpj-examples messaging/messaging"
    WANTED="$WANTED applications/workloads"
  fi
  if needs_programs "$@"; then
    WANTED="$WANTED applications/programs applications/bench-programs"
  fi
}

# Runs a command in Java; for its help alone nothing is built.
run_cli() {
  want "$@"
  if ! asks_for_help "$@"; then
    ensure_built
  elif ! [ -f "$CLI" ] || ! [ -f "$BENCH" ] ||
    { needs_workloads "$@" && ! is_complete "$WORKLOADS"; } ||
    { needs_programs "$@" && ! is_complete "$PROGRAMS"; }; then
    # The line of the benchmark, if it has one of its own, or that of the command.
    usage | grep -F -e "  $1 ${2-}  " | sed 's/^  /talaria /' | grep . ||
      usage | sed -n "s/^  \($1[ A-Z]*  .*\)/talaria \1/p"
    built=build
    if needs_workloads "$@"; then
      case $1:$2 in
        bench:[!-]* | example:[!-]*) built="build $1 $2" ;;
        example:*) built='build example messages' ;;
        *) built='build bench messages' ;;
      esac
    fi
    echo "To see its options, run ./talaria $built, then ./talaria $* again."
    exit 0
  fi
  need_jdk
  exec "$JAVA_HOME/bin/java" -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Djava.awt.headless=true \
    --enable-native-access=ALL-UNNAMED -cp "$(class_path "$@")" io.talaria.cli.Main "$@"
}
