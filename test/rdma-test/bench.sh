#!/bin/bash
# Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0
#
# Runs in the guest: three rounds of perftest's programs and the same from Java, then the table of their ratios.
# Ends with 3 if a ratio misses its bound. The guest is an emulated machine: the ratios tell whether something is
# grossly wrong, the figures nothing.
# Usage: bench.sh [FILE]    FILE: lines "NAME VALUE" of a run, instead of measuring

set -uo pipefail

readonly ROUNDS=3 COUNT=1000 MANY=5000 PORT=18515
readonly MISSED=3

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

java_side() {
  local path=core/ffi/target/classes:core/nio/target/classes:network/verbs/target/classes:network/verbs-net/target/classes:network/verbs-net/target/test-classes
  # By the first compiler: the second takes minutes of an emulated processor, and gains little there.
  "$JAVA_HOME/bin/java" -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -XX:-UsePerfData \
    --enable-native-access=ALL-UNNAMED \
    -Dtalaria.verbs.variant=device -cp "$path:network/verbs-net/target/test-lib/*" \
    io.talaria.verbs.net.GuestBench "$COUNT" 2>&1 | tee "$figures.java" || exit 1
  sed -n 's/^measure //p' "$figures.java" >>"$figures"
}

measure() {
  figures=$(mktemp)
  cd "$ROOT" || exit 1
  for round in $(seq "$ROUNDS"); do
    echo "-- round $round"
    perftest ib_read_lat 16 5 ib_read_lat -n "$COUNT"
    perftest ib_send_lat_e 16 5 ib_send_lat -e -n "$COUNT"
    perftest ib_write_bw 4096 4 ib_write_bw -t 64 -n "$MANY"
    perftest ib_send_bw_mpps 16 5 ib_send_bw -n "$MANY"
    java_side
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
      exit bad ? missed : 0
    }' "$1"
}

if [ $# -gt 0 ]; then
  table "$1"
else
  measure
  table "$figures"
fi
