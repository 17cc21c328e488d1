# Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0
#
# The tests: all, most, or one at length. Sourced by the launcher.

# What the usual run takes less of than a run of all tests.
readonly USUAL_ROUNDS=30 ALL_ROUNDS=150
readonly USUAL_VARIANTS=JDK,ACCELERATED,NEGOTIATING,PLAIN,JDK_TO_TALARIA,TALARIA_TO_JDK
readonly USUAL_VARIANTS_17=ACCELERATED,PLAIN
readonly USUAL_JAVA17='%regex[.*/(adaptor|channel|contract|memory)/.*Test.class]'
readonly USUAL_NEWEST='%regex[.*/(Ends|HostilePeer|LastWords|RenewedEngine|UnwatchedEngine|WakeUp)Test.class]'
readonly USUAL_SCALE=0.25
readonly USUAL_JVM='-XX:+UseSerialGC -XX:TieredStopAtLevel=1 -XX:CompileThresholdScaling=5'
readonly USUAL_CHAOS_SECONDS=10 ALL_CHAOS_SECONDS=120
readonly USUAL_STRESS_SECONDS=10 ALL_STRESS_SECONDS=20

test_usage() {
  cat <<'END'
Usage: ./talaria test [--all] [--changed[=COMMIT]] [-- ARGUMENTS]
       ./talaria test --release [--long] [--only PATTERNS] [--list]

Builds and checks everything and runs the tests, except the long ones: about half an hour on two
idle cores.

At the end it lists the tests that were left out or skipped, the slowest test classes, and the tests
that passed only when repeated; the last line has the totals. ARGUMENTS are passed to Maven.

  --all             run all tests, run those for races longer, and run all of nio on Java 17, too; a
                    test that passes only when repeated fails. Use it before a release, and before
                    closing an issue
  --changed         test only modules that contain a file which differs from the last commit, or from
                    COMMIT, and modules that depend on them; a changed document concerns the modules
                    that compare it with their code
  --release         instead of the tests, run every command that continuous integration does not
                    run: fuzz, chaos, soak, all examples, demo, observe, all of bench with --quick,
                    rdma-test. It continues after a failure; a table at the end lists what passed,
                    failed, or was skipped because something is missing
  --long            with --release: run chaos, soak and fuzz for their default durations
  --only PATTERNS   with --release: run only commands that match, for example 'bench-*,demo'
  --list            with --release: list the commands without running them

Logs: dist/test.log; of failed tests logs, reports and thread dumps in dist/test-failures; with
--release a log of each command in dist/release-test.

Exit status: 0 tests ran and none failed, 1 failed, 2 wrong usage, 69 a JDK or Maven is missing.

  ./talaria test
  ./talaria test --all
  ./talaria test --changed=main
  ./talaria test --release --only 'bench-*'
  ./talaria test -- -pl core/nio -am        one module and its dependencies
  ./talaria test -- -pl core/nio -am -Dtest=ConfigTest -Dsurefire.failIfNoSpecifiedTests=false
END
}

run_tests() {
  for argument in "$@"; do
    case $argument in
      --) break ;;
      --release) run_release_tests "$@" ;;
    esac
  done
  extent=usual
  since=
  while [ $# -gt 0 ]; do
    case $1 in
      --)
        shift
        break
        ;;
      --all) extent=all ;;
      --changed) since=HEAD ;;
      --changed=?*) since=${1#*=} ;;
      -h | --help)
        test_usage
        exit 0
        ;;
      *) unknown_option test "$1" ;;
    esac
    shift
  done
  need_jdk
  need_maven
  if [ -n "$since" ]; then
    git -C "$ROOT" rev-parse -q --verify "$since^{commit}" >/dev/null 2>&1 || {
      say "test --changed=$since: git finds no such commit"
      exit "$STATUS_USAGE"
    }
    concerned=$(concerned_modules "$since" | tr '\n' ' ')
    [ -n "$concerned" ] || {
      say "nothing that a module tests differs from $since"
      exit 0
    }
    say "testing $concerned"
    mark_unconcerned "$concerned"
    trap unmark EXIT
    set -- -Dtest.changed -am -pl "$(printf '%s' "${concerned% }" | tr ' ' ,)" "$@"
  else
    unmark
  fi
  rm -rf "$ROOT"/*/*/target/surefire-reports* "$ROOT"/dist/test-failures
  mkdir -p "$ROOT/dist" || exit 1
  # A test that is asked for by name is run, whatever its tag.
  left_out=long
  ordered=
  for argument in "$@"; do
    case $argument in
      -Dtest=*) left_out=nothing ;;
      # Modules side by side: it, which wants the machine for itself, comes last.
      -T* | --threads*) ordered=-Dtest.whole ;;
    esac
  done
  set -- ${ordered:+"$ordered"} "$@"
  if [ "$extent" = all ]; then
    # The report judges, also of flaky tests: one failure must not keep the other modules from being tested.
    set -- -Dmaven.test.failure.ignore "$@"
  else
    set -- -Dmaven.javadoc.skip "-Dtest.left-out=$left_out" "-Dtest.rounds=$USUAL_ROUNDS" \
      "-Dtest.variants=$USUAL_VARIANTS" "-Dtest.java17.variants=$USUAL_VARIANTS_17" "-Dtest.java17.classes=$USUAL_JAVA17" \
      "-Dtest.newest.classes=$USUAL_NEWEST" "-Dtest.scale=$USUAL_SCALE" -Dtest.pairs=few "-Dtest.jvm=$USUAL_JVM" "$@"
    export TALARIA_CHAOS_SECONDS="${TALARIA_CHAOS_SECONDS:-$USUAL_CHAOS_SECONDS}"
    export TALARIA_STRESS_SECONDS="${TALARIA_STRESS_SECONDS:-$USUAL_STRESS_SECONDS}"
  fi
  begun=$(date +%s)
  log=$ROOT/dist/test.log
  rm -f "$log.status"
  # After a failure go on with the modules that do not depend on the failed one.
  {
    (cd "$ROOT" && "$MVN" -B -Dstyle.color=never --fail-at-end verify "$@")
    echo $? >"$log.status"
  } 2>&1 | tee "$log"
  status=$(cat "$log.status" 2>/dev/null || echo 1)
  rm -f "$log.status"
  took=$(($(date +%s) - begun))
  printf '\nBuilt and tested in %d minutes and %d seconds.\n' $((took / 60)) $((took % 60))
  set -- 'fuzz, chaos, soak, benchmarks, examples, rdma-test (./talaria test --release runs each once)'
  if [ "$extent" = usual ]; then
    set -- 'javadoc; the compiler checks comments in both' "races: $USUAL_ROUNDS rounds instead of $ALL_ROUNDS" \
      "nio on Java 17: what needs no channel or mapping of the JDK itself (negotiation, rings, counters, fuzz, config)" \
      "nio-ucx on the newest JUCX: the load and the killed writers, which it has on the oldest" \
      "the contract where ports are left out; on Java 17: all variants but $USUAL_VARIANTS_17" \
      "applications: $USUAL_SCALE of the bytes, records and kills, and fewer pairs of Java and sockets" \
      "JVMs of tests, and those that they start to look at what they say: without the optimizing compiler, and compiled late" \
      "chaos: $USUAL_CHAOS_SECONDS seconds instead of $ALL_CHAOS_SECONDS, programs from a seed $USUAL_STRESS_SECONDS for $ALL_STRESS_SECONDS" "$@"
  fi
  "$JAVA_HOME/bin/java" -XX:TieredStopAtLevel=1 "$ROOT/.ci/TestReport.java" \
    "$ROOT" "$extent" "$@" || [ "$status" -ne 0 ] || status=1
  [ "$status" -eq 0 ] || status=1
  exit "$status"
}
