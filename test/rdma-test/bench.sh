#!/bin/bash
# Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0
#
# Runs in the guest: three rounds of perftest's programs and the same from Java, then the table of their ratios.
# Ends with 3 if a ratio misses its bound. The guest is an emulated machine: the ratios tell whether something is
# grossly wrong, the figures nothing.
# Usage: bench.sh [FILE]     FILE: lines "NAME VALUE" of a run, instead of measuring
#        bench.sh --paths    the class paths

set -uo pipefail

readonly ROUNDS=3 COUNT=1000 MANY=5000 FEW=200 PORT=18515
readonly MISSED=3
readonly SECOND=/sys/devices/system/cpu/cpu1/online
# The first compiler alone: the second takes minutes of an emulated processor, and gains little there.
readonly JVM=(-XX:+UseSerialGC -XX:TieredStopAtLevel=1 -XX:-UsePerfData --enable-native-access=ALL-UNNAMED)
readonly CASES=(half 8 100 rate 8 5 bytes 65536 1)
readonly SOURCE=applications/workloads/src/main/resources/io/talaria/workloads/mpj/ranks.c
readonly VERBS=core/ffi/target/classes:core/nio/target/classes:network/verbs/target/classes
readonly NET=$VERBS:network/verbs-net/target/classes:network/verbs-net/target/test-classes:network/verbs-net/target/test-lib/*:test/test-support/target/classes
readonly NODES=$VERBS:network/ucx/target/classes:messaging/messaging/target/classes:messaging/messaging/target/test-classes:test/test-support/target/classes
readonly RANKS=$VERBS:network/ucx/target/classes:message-passing/mpj/target/classes:message-passing/mpj-examples/target/classes:applications/workloads/target/classes

# What a program of perftest says: field $2 of the line of size $1.
perftest() {
  local name=$1 size=$2 field=$3 said
  shift 3
  said=$(timeout 300 "$ROOT/test/rdma-test/pair.sh" "$ADDRESS" "$PORT" "$@" -d "$DEVICE" -x 1 -F -s "$size" 2>&1) || {
    printf '%s\n' "$said"
    echo "$1 has failed"
    exit 1
  }
  # Both sides print; the client's line comes last.
  awk -v name="$name" -v size="$size" -v field="$field" '
    $1 == size && NF > 3 { value = $field } END { print name, value }' <<<"$said" | tee -a "$figures"
}

# Lines "measure NAME VALUE" of a Java program: java_side CLASS_PATH MAIN ARGUMENTS...
java_side() {
  local path=$1
  shift
  "$JAVA_HOME/bin/java" "${JVM[@]}" -Dtalaria.verbs.variant=device -cp "$path" "$@" 2>&1 | tee "$figures.java" || exit 1
  sed -n 's/^measure //p' "$figures.java" >>"$figures"
}

# What ranks of bench mpj print: "result PATTERN BYTES TIMES NANOSECONDS"; 64 messages are in flight but for half.
rank_figures() {
  awk -v name="$1" '
    $1 != "result" { next }
    $2 == "half" { print name "_half_us", $5 / $4 / 2000 }
    $2 == "rate" { print name "_messages_s", $4 * 64 * 1e9 / $5 }
    $2 == "bytes" { print name "_large_mbs", $4 * 64 * $3 * 1e3 / $5 }' "$2" | tee -a "$figures"
}

# Two ranks on ibvdev; the launcher and they have the options from the environment.
ranks() {
  JDK_JAVA_OPTIONS="${JVM[*]}" \
    java_side "$RANKS" io.talaria.mpj.launch.Mpirun -np 2 -dev ibv -cp "$RANKS" \
    io.talaria.workloads.mpj.Ranks cases 3 3 "${CASES[@]}"
  rank_figures mpj "$figures.java"
}

# The same in C by Open MPI over UCX on verbs, if it is installed.
open_mpi() {
  command -v mpicc.openmpi >/dev/null && command -v mpirun.openmpi >/dev/null || return 0
  [ -x "$figures.ranks" ] || mpicc.openmpi -O3 -o "$figures.ranks" "$ROOT/$SOURCE" || exit 1
  timeout 300 mpirun.openmpi --allow-run-as-root -np 2 --mca pml ucx --mca pml_ucx_tls any --mca pml_ucx_devices any \
    -x UCX_TLS=rc_v "$figures.ranks" cases 1 3 "${CASES[@]}" 2>&1 | tee "$figures.c" || exit 1
  rank_figures ompi "$figures.c"
}

# Switches the second processor off or on, if there is one. Programs that sleep are compared on one processor; those
# whose ends poll need one each.
second_processor() {
  [ ! -e "$SECOND" ] || echo "$1" >"$SECOND" || exit 1
}

measure() {
  figures=$(mktemp)
  cd "$ROOT" || exit 1
  for round in $(seq "$ROUNDS"); do
    echo "-- round $round"
    second_processor 0
    perftest ib_read_lat 16 5 ib_read_lat -n "$COUNT"
    perftest ib_send_lat_e 16 5 ib_send_lat -e -n "$COUNT"
    perftest ib_write_bw 4096 4 ib_write_bw -t 64 -n "$MANY"
    perftest ib_send_bw_mpps 16 5 ib_send_bw -n "$MANY"
    perftest ib_send_bw_large 65536 4 ib_send_bw -n "$FEW"
    java_side "$NET" io.talaria.verbs.net.GuestBench "$COUNT"
    java_side "$NODES" io.talaria.messaging.verbs.VerbsBenchMain "$COUNT"
    second_processor 1
    perftest ib_write_lat 8 5 ib_write_lat -n "$COUNT"
    perftest ib_send_bw_two 16 5 ib_send_bw -n "$MANY"
    perftest ib_send_bw_two_large 65536 4 ib_send_bw -n "$FEW"
    ranks
    open_mpi
  done
}

# A line for each ratio: median, least and most of the rounds, and what was asked for.
table() {
  awk -v missed="$MISSED" '
    { count[$1]++; value[$1, count[$1]] = $2 }
    function ratio(label, java, base, factor, bound, at_least,    i, n, r, list, middle, ok) {
      n = count[java] < count[base] ? count[java] : count[base]
      if (n == 0) { printf "%-58s not measured\n", label; return }
      for (i = 1; i <= n; i++) {
        r = value[base, i] > 0 ? value[java, i] / (value[base, i] * factor) : 0
        list[i] = r
      }
      sort(list, n)
      middle = list[int((n + 1) / 2)]
      ok = at_least ? middle >= bound : middle <= bound
      if (!ok) bad = 1
      printf "%-58s %6.2f  %6.2f to %-6.2f  %s %-4s  %s\n", label, middle, list[1], list[n],
        at_least ? "at least" : "at most ", bound, ok ? "held" : "MISSED"
    }
    function sort(list, n,    i, j, x) {
      for (i = 2; i <= n; i++) {
        x = list[i]
        for (j = i - 1; j >= 1 && list[j] > x; j--) list[j + 1] = list[j]
        list[j + 1] = x
      }
    }
    END {
      printf "%-58s %6s  %s\n", "ratio of three rounds, in an emulated machine", "median", "spread"
      ratio("16 B read, round trip p50 / ib_read_lat", "verbs_read_us", "ib_read_lat", 1, 2.5, 0)
      ratio("16 B send both ways, sleeping, p50 / 2 ib_send_lat -e", "verbs_sleeping_us", "ib_send_lat_e", 2, 1.5, 0)
      # perftest counts MiB here.
      ratio("4 KiB write, 64 in flight / ib_write_bw -t 64", "verbs_write_mbs", "ib_write_bw", 1.048576, 0.5, 1)
      ratio("16 B messages one way by verbs-net / ib_send_bw -s 16", "net_messages_s", "ib_send_bw_mpps", 1000000, 0.4, 1)
      ratio("verbs-net 16 B round trip / verbs, both sleeping", "net_round_trip_us", "verbs_sleeping_us", 1, 3, 0)
      ratio("messaging, 16 B request p50 / 2 ib_send_lat -e", "messaging_request_us", "ib_send_lat_e", 2, 5, 0)
      ratio("messaging, 16 B messages one way / ib_send_bw -s 16", "messaging_messages_s", "ib_send_bw_mpps", 1000000, 1, 1)
      ratio("messaging, 64 KiB one way / ib_send_bw -s 65536", "messaging_large_mbs", "ib_send_bw_large", 1.048576, 0.15, 1)
      ratio("ibvdev, half round trip of 8 B / ib_write_lat -s 8", "mpj_half_us", "ib_write_lat", 1, 8, 0)
      ratio("ibvdev, 8 B, 64 in flight / ib_send_bw -s 16", "mpj_messages_s", "ib_send_bw_two", 1000000, 0.3, 1)
      ratio("ibvdev, 64 KiB, 64 in flight / ib_send_bw -s 65536", "mpj_large_mbs", "ib_send_bw_two_large", 1.048576, 0.4, 1)
      ratio("ibvdev, half round trip of 8 B / Open MPI on rc_verbs", "mpj_half_us", "ompi_half_us", 1, 5, 0)
      ratio("ibvdev, 8 B, 64 in flight / Open MPI on rc_verbs", "mpj_messages_s", "ompi_messages_s", 1, 0.3, 1)
      ratio("ibvdev, 64 KiB, 64 in flight / Open MPI on rc_verbs", "mpj_large_mbs", "ompi_large_mbs", 1, 0.6, 1)
      exit bad ? missed : 0
    }' "$1"
}

if [ "${1-}" = --paths ]; then
  printf '%s\n' "$NET" "$NODES" "$RANKS"
elif [ $# -gt 0 ]; then
  table "$1"
else
  measure
  table "$figures"
fi
