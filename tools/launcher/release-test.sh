# Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0
#
# Runs each command once that continuous integration does not run: ./talaria test --release. Sourced by the launcher.

# Where the logs go, below the project.
readonly RELEASE_TEST_LOGS=dist/release-test
# How many lines a failure shows, and how many minutes a command may take.
readonly RELEASE_TEST_LINES=5 RELEASE_TEST_MINUTES=60

# name | what it is given as input | the command. A new command belongs here: ReleaseCommandsTest compares this with the usage.
release_test_rows() {
  cat <<'END'
fuzz||fuzz --inputs 20000
chaos||chaos --minutes 1
chaos-random||chaos --random --minutes 1
chaos-messages||chaos --messages --minutes 1
soak||soak --connects 5000
soak-messages||soak --messages --connects 200
ucx-example||ucx-example
verbs-example||verbs-example --simulated
example-counter||example counter
example-echo|hello|example echo
example-echo-grpc|hello|example echo --grpc
example-kvs|insert a x=1|example kvs
example-messages|hello|example messages
demo||demo
observe||observe quick --out dist/release-test/observations
bench-sockets||bench sockets --quick
bench-ucx||bench ucx --quick
bench-verbs||bench verbs --binding
bench-ports-fabric||bench ports --fabric
bench-ports-top||bench ports --top
bench-mpj||bench mpj --quick
bench-netty||bench netty --quick
bench-grpc||bench grpc --quick
bench-kvs||bench kvs --quick
bench-zookeeper||bench zookeeper --quick
bench-bookkeeper||bench bookkeeper --quick
bench-kafka||bench kafka --quick
bench-programs||bench programs --quick
bench-messages||bench messages --quick
rdma-test||rdma-test
END
}

# The same with the settings that the commands have by themselves.
release_test_at_length() {
  release_test_rows | sed -E 's/^((fuzz|chaos|soak)[a-z-]*\|\|.*) --(inputs|minutes|connects) [0-9]+$/\1/'
}

# The rows of $1 whose names match one of the patterns $2, which have commas between them.
release_test_chosen() {
  printf '%s\n' "$1" | while IFS= read -r row; do
    rest=$2,
    while [ -n "$rest" ]; do
      pattern=${rest%%,*}
      rest=${rest#*,}
      # shellcheck disable=SC2254 # it is a pattern
      case ${row%%|*} in
        $pattern)
          printf '%s\n' "$row"
          break
          ;;
      esac
    done
  done
}

# $1 seconds as minutes.
in_minutes() {
  awk -v seconds="$1" 'BEGIN { printf "%.1f", seconds / 60 }'
}

# What Ctrl-C does: the command at hand is ended, the others are not begun.
release_test_interrupted() {
  release_test_left_off=yes
  [ -z "$release_test_pid" ] || kill "$release_test_pid" 2>/dev/null
}

# Runs row $1, with its log; sets result and status.
release_test_one() {
  name=${1%%|*}
  words=${1#*|}
  input=${words%%|*}
  words=${words#*|}
  log=$RELEASE_TEST_LOGS/$name.log
  limit=
  ! command -v timeout >/dev/null 2>&1 || limit="timeout -k 30 $((RELEASE_TEST_MINUTES * 60))"
  say "$words (log in $log)"
  began=$(date +%s)
  printf '%s\n' "$input" >"$ROOT/$RELEASE_TEST_LOGS/.input"
  # The words have no spaces in them. In the background, because only then an interrupt is seen at once.
  # shellcheck disable=SC2086
  (cd "$ROOT" && TALARIA_PROGRESS=lines exec $limit ./talaria $words) \
    <"$ROOT/$RELEASE_TEST_LOGS/.input" >"$ROOT/$log" 2>&1 &
  release_test_pid=$!
  wait "$release_test_pid"
  status=$?
  [ -z "$release_test_left_off" ] || wait "$release_test_pid" 2>/dev/null
  release_test_pid=
  took=$(in_minutes $(($(date +%s) - began)))
  why=
  case $status in
    0) result=passed ;;
    3)
      # It works, and figures of a machine that does other things, too, are not judged here.
      result=passed
      why='a target is missed'
      ;;
    "$STATUS_MISSING")
      result=skipped
      why=$(grep -v '^$' "$ROOT/$log" | tail -n 1)
      ;;
    124 | 137)
      result=FAILED
      why="not done within $RELEASE_TEST_MINUTES minutes"
      ;;
    *)
      result=FAILED
      why="status $status"
      ;;
  esac
  if [ -n "$release_test_left_off" ]; then
    result=FAILED
    why=interrupted
  fi
}

# A line of the table.
release_test_line() {
  printf '%-20s %-8s %7s  %s\n' "$@" | sed 's/ *$//'
}

run_release_tests() {
  only='*'
  rows=$(release_test_rows)
  listed=
  while [ $# -gt 0 ]; do
    case $1 in
      --release) ;;
      --long) rows=$(release_test_at_length) ;;
      --list) listed=yes ;;
      --only)
        if [ -z "${2-}" ]; then
          say "test: --only needs names or patterns, with commas between them; try: $NAME test --release --list"
          exit "$STATUS_USAGE"
        fi
        only=$2
        shift
        ;;
      --all | --)
        say "test: $1 does not go with --release; try: $NAME test --help"
        exit "$STATUS_USAGE"
        ;;
      -h | --help)
        test_usage
        exit 0
        ;;
      *) unknown_option test "$1" ;;
    esac
    shift
  done
  rows=$(release_test_chosen "$rows" "$only")
  if [ -z "$rows" ]; then
    say "test: --only $only: there is no such command; try: $NAME test --release --list"
    exit "$STATUS_USAGE"
  fi
  if [ -n "$listed" ]; then
    printf '%s\n' "$rows" | while IFS='|' read -r name input words; do
      printf '%-20s %s%s\n' "$name" "$words" "${input:+ <<< '$input'}"
    done
    exit 0
  fi
  need_jdk
  need_maven
  rm -rf "${ROOT:?}/$RELEASE_TEST_LOGS"
  mkdir -p "$ROOT/$RELEASE_TEST_LOGS" || exit "$STATUS_FAILED"
  results=$ROOT/$RELEASE_TEST_LOGS/results.txt
  : >"$results"
  release_test_left_off=
  release_test_pid=
  trap release_test_interrupted INT TERM
  begin=$(date +%s)
  # By another descriptor than the commands' own input.
  while IFS= read -r row <&3; do
    release_test_one "$row"
    printf '%s|%s|%s|%s\n' "$name" "$result" "$took" "$why" >>"$results"
    [ -z "$release_test_left_off" ] || break
  done 3<<END
$rows
END
  trap - INT TERM
  rm -f "$ROOT/$RELEASE_TEST_LOGS/.input"
  release_test_report "$(in_minutes $(($(date +%s) - begin)))" | tee "$ROOT/$RELEASE_TEST_LOGS/report.txt"
  [ -z "$release_test_left_off" ] || exit 130
  ! grep -qF '|FAILED|' "$results" || exit "$STATUS_FAILED"
  exit 0
}

# The table, and what failed; all of it took $1 minutes.
release_test_report() {
  echo
  release_test_line command result minutes ''
  while IFS='|' read -r name result took why; do
    release_test_line "$name" "$result" "$took" "$why"
  done <"$results"
  printf '%s\n' "$rows" | while IFS='|' read -r name rest; do
    grep -q "^$name|" "$results" || release_test_line "$name" 'not run' '' ''
  done
  while IFS='|' read -r name result took why; do
    [ "$result" = FAILED ] || continue
    printf '\n%s failed (%s); all of it is in %s/%s.log:\n' "$name" "$why" "$RELEASE_TEST_LOGS" "$name"
    grep -v '^[[:space:]]*$' "$ROOT/$RELEASE_TEST_LOGS/$name.log" | tail -n "$RELEASE_TEST_LINES" | sed 's/^/    /'
  done <"$results"
  printf '\n%d passed, %d failed, %d skipped, in %s minutes\n' "$(grep -cF '|passed|' "$results")" \
    "$(grep -cF '|FAILED|' "$results")" "$(grep -cF '|skipped|' "$results")" "$1"
}
