#!/bin/sh
# Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0
#
# Runs a command twice: as a server, and once that listens on the port, with the server's address behind
# it, as a client. Ends with the first status that is not 0.
# Usage: pair.sh ADDRESS PORT COMMAND...

set -u

address=$1
port=$(printf '%04X' "$2")
shift 2

"$@" &
server=$!
until grep -q "^ *[0-9]*: [0-9A-F]*:$port [0-9A-F:]* 0A " /proc/net/tcp /proc/net/tcp6 2>/dev/null; do
  kill -0 "$server" 2>/dev/null || {
    echo "the server ended before it listened"
    wait "$server"
    exit 1
  }
  sleep 0.2
done
echo "-- client"
"$@" "$address"
status=$?
[ "$status" -eq 0 ] || {
  kill "$server" 2>/dev/null
  exit "$status"
}
wait "$server"
