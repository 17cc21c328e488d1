#!/bin/bash
# Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0
#
# The guest's process 1 once the host's root is in place: makes the software NIC, runs the checks one
# after the other, and turns the machine off. Talks to run.sh by files in the shared folder:
#   job        read: ROOT, JAVA_HOME, JAVA17_HOME (empty: none), ONLY (patterns of names, with commas between),
#              patience, BENCH
#   progress   a line for every step
#   results    a line for every check that has ended: name|result|seconds|sent|received|sends|receives|note
#   out/NAME   what the check has printed, and the hardware counters that it has moved
#   status     the last thing written: 0 or 1

set -u

readonly SHARE=/run/talaria-share
readonly ADDRESS=10.77.0.1
readonly DEVICE=rxe0
readonly COUNTERS=/sys/class/infiniband/$DEVICE/ports/1/hw_counters

PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
export PATH

# shellcheck disable=SC1091 # written by run.sh
. "$SHARE/job"
readonly ROOT JAVA_HOME JAVA17_HOME ONLY BENCH
readonly JUCX_JAR=$ROOT/network/nio-jucx/target/jucx/jucx-1.18.1.jar
failed=0

progress() {
  printf '%s\n' "$*" >>"$SHARE/progress"
}

turn_off() {
  printf '%s\n' "$1" >"$SHARE/status"
  sync
  echo o >/proc/sysrq-trigger
  # No program can be loaded any more, and process 1 must not end.
  while :; do :; done
}

set_up() {
  hostname localhost
  ulimit -l unlimited
  ip link set lo up
  # A page of payload, the largest that the software NIC sends, needs room for its headers.
  ip link add dummy0 type dummy &&
    ip address add "$ADDRESS/24" dev dummy0 &&
    ip link set dummy0 mtu 4200 up &&
    rdma link add "$DEVICE" type rxe netdev dummy0 || return 1
  # The run-time directory of the host's processes means nothing here.
  mkdir -p "/tmp/talaria-0" && mount -t tmpfs -o mode=700 tmpfs "/tmp/talaria-0"
}

# Name and value of every hardware counter.
counters() {
  local file value
  for file in "$COUNTERS"/*; do
    read -r value <"$file" && [ "${file##*/}" != lifespan ] && printf '%s %s\n' "${file##*/}" "$value"
  done
}

# What has moved between two files of counters, a line each.
moved() {
  awk 'NR == FNR { before[$1] = $2; next } $2 != before[$1] { print $1, $2 - before[$1] }' "$1" "$2"
}

uptime_seconds() {
  local up
  read -r up _ </proc/uptime
  printf '%s\n' "$up"
}

# Whether a pattern of --only matches.
wanted() {
  local pattern patterns
  IFS=, read -r -a patterns <<<"$ONLY"
  for pattern in "${patterns[@]}"; do
    # shellcheck disable=SC2053 # a pattern
    [[ $1 == $pattern ]] && return 0
  done
  return 1
}

# The limits are for a host that has a core to spare; there the boot is done in 5 to 10 seconds. A host that
# is busy, and was so long booting, gets as many times longer.
be_patient() {
  local up
  up=$(uptime_seconds)
  patience=$((patience * (1 + ${up%.*} / 15)))
  [ "$patience" -eq 1 ] || progress "the host is busy: all limits are $patience times as long"
}

# check NAME SECONDS packets|quiet COMMAND...: runs the command, which must end with 0 in time. With
# "packets" it must also have sent some through the NIC: else it has used another transport.
check() {
  name=$1
  limit=$(($2 * patience))
  traffic=$3
  shift 3
  wanted "$name" || return
  progress "running $name (at most $limit s)"
  out=$SHARE/out/$name
  counters >/run/before
  start=$(uptime_seconds)
  timeout -k 5 "$limit" "$@" >"$out" 2>&1 </dev/null
  status=$?
  end=$(uptime_seconds)
  # Whatever the check has left behind; spares process 1.
  kill -KILL -1 2>/dev/null
  counters >/run/after
  moved /run/before /run/after >/run/moved

  note=
  result=passed
  if [ "$status" -eq 124 ] || [ "$status" -eq 137 ]; then
    result=FAILED
    note="not done in $limit s"
  elif [ "$status" -ne 0 ]; then
    result=FAILED
    note="status $status: $(grep -v -e '^ *$' -e '^[[:space:]]*at ' "$out" | tail -n 1 | tr '|' '/' | cut -c 1-100)"
  elif [ "$traffic" = packets ] && ! grep -q '^sent_pkts ' /run/moved; then
    result=FAILED
    note="no packet went through $DEVICE"
  fi
  [ "$result" = passed ] || failed=1
  {
    echo "-- status $status; hardware counters of $DEVICE that moved:"
    cat /run/moved
  } >>"$out"
  awk -v head="$name|$result" -v from="$start" -v to="$end" -v note="$note" '
    { by[$1] = $2 }
    END {
      printf "%s|%.1f|%d|%d|%d|%d|%s\n", head, to - from, by["sent_pkts"], by["rcvd_pkts"],
        by["rdma_sends"], by["rdma_recvs"], note
    }' /run/moved >>"$SHARE/results"
}

verbs_checks() {
  check ibv_devinfo 60 quiet "$ROOT/test/rdma-test/expect.sh" PORT_ACTIVE ibv_devinfo -v -d "$DEVICE"
  for kind in rc ud; do
    check "ibv_${kind}_pingpong" 120 packets "$ROOT/test/rdma-test/pair.sh" "$ADDRESS" 18515 \
      "ibv_${kind}_pingpong" -d "$DEVICE" -g 1 -n 200
  done
}

# UCX's own test program: ucx_check TRANSPORT TEST SIZE. At this log level UCX names the transport it has chosen.
ucx_check() {
  local transport=$1 test=$2 size=$3
  check "ucx_${transport}_${test#ucp_}" 120 packets \
    env UCX_TLS="$(tls "$transport")" UCX_LOG_LEVEL=info \
    "$ROOT/test/rdma-test/expect.sh" "$transport/$DEVICE:1" \
    "$ROOT/test/rdma-test/pair.sh" "$ADDRESS" 13337 \
    ucx_perftest -t "$test" -s "$size" -n 100 -w 10
}

ucx_checks() {
  local transport
  check ucx_info 120 quiet "$ROOT/test/rdma-test/expect.sh" 'Transport: rc_verbs' ucx_info -d
  for transport in rc_verbs ud_verbs; do
    ucx_check "$transport" tag_lat 16
    ucx_check "$transport" tag_bw 65536
    ucx_check "$transport" stream_lat 16
    ucx_check "$transport" stream_bw 65536
  done
  # The device does put and get without the peer's processor. UCX 1.13 sends the atomics as messages, though
  # rc_verbs has add, fetch-and-add and compare-and-swap on 64 bits.
  ucx_check rc_verbs ucp_put_bw 65536
  ucx_check rc_verbs ucp_get 65536
  ucx_check rc_verbs ucp_fadd 8
  ucx_check rc_verbs ucp_cswap 8
}

# rc_verbs by itself cannot be reached by worker address: rc_v brings ud_verbs for the first messages.
tls() {
  case $1 in
    rc_verbs) echo rc_v ;;
    *) echo "$1" ;;
  esac
}

# Perftest and Java side by side, alone.
bench() {
  check bench 3000 packets "$ROOT/test/rdma-test/bench.sh"
}

# Unmodified programs on nio-ucx.
socket_checks() {
  local transport program
  for transport in rc_verbs ud_verbs; do
    for program in talk stream; do
      check "nio_ucx_${transport}_$program" 240 packets \
        env UCX_TLS="$(tls "$transport")" "$ROOT/test/rdma-test/sockets.sh" "$transport" "$program"
    done
  done
}

# The same with one side on Java 17, by JUCX, in either role.
jucx_checks() {
  if ! [ -x "$JAVA17_HOME/bin/java" ] || ! [ -f "$JUCX_JAR" ]; then
    progress "no Java 17, or no $JUCX_JAR: the rows nio_jucx_* are left out"
    return
  fi
  check nio_jucx_rc_verbs_talk 300 packets \
    env UCX_TLS="$(tls rc_verbs)" "$ROOT/test/rdma-test/sockets.sh" rc_verbs talk client
  check nio_jucx_rc_verbs_stream 300 packets \
    env UCX_TLS="$(tls rc_verbs)" "$ROOT/test/rdma-test/sockets.sh" rc_verbs stream server
}

# The rows of checks.list; those of one name are one check.
java_checks() {
  "$ROOT/test/rdma-test/java-check.sh" --list >/run/java-checks
  exec 3</run/java-checks
  while read -r name limit traffic <&3; do
    check "$name" "$limit" "$traffic" "$ROOT/test/rdma-test/java-check.sh" "$name" 3<&-
  done
  exec 3<&-
}

progress "the guest is up"
be_patient
if set_up; then
  export ROOT JAVA_HOME JAVA17_HOME JUCX_JAR ADDRESS DEVICE PATIENCE=$patience
  # By its NIC only. The last one: soft-RoCE delivers datagrams without the header that this looks at.
  export UCX_NET_DEVICES="$DEVICE:1" UCX_UD_VERBS_ETH_DGID_CHECK=n
  if [ "$BENCH" = yes ]; then
    bench
  else
    verbs_checks
    ucx_checks
    java_checks
    socket_checks
    jucx_checks
  fi
else
  progress "the software NIC could not be made"
  failed=1
fi
turn_off "$failed"
