#!/bin/bash
# Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0
#
# Two JVMs with the agent and talaria.transports=ucx, which run a plain NIO program of module it on one connection.
# They are held back until ./talaria ss, a third JVM, shows both ends on UCX by TRANSPORT; then the program does
# its work, which compares every byte; and in the end ss must have seen it all go that way.
# Usage: sockets.sh TRANSPORT talk|stream [server|client]
#   talk     round trips of 16 bytes, with a selector
#   stream   bytes in both directions at once, with blocking calls
#   server, client
#            which side runs on Java 17 (JAVA17_HOME) and reaches UCX by JUCX (JUCX_JAR); the other, or both if it
#            is left out, on Java 25 by the foreign function interface

set -u

ROOT=${ROOT:-$(cd "$(dirname "$0")/../.." && pwd -P)}
readonly ROOT TRANSPORT=$1 PROGRAM=$2 BY_JUCX=${3-}
readonly STREAM_BYTES=1000000
readonly CLASSES=${CLASSES:-$ROOT/target/rdma-test/programs}
readonly ADDRESS=${ADDRESS:-127.0.0.1}

case $PROGRAM in
  talk)
    server_class=Talk
    client_class=Talk
    arguments='io=selector bytes=16 rounds=5'
    again='again talked'
    ;;
  stream)
    server_class=StreamServer
    client_class=StreamClient
    arguments="io=blocking greet=yes keep=yes min=$STREAM_BYTES max=$STREAM_BYTES chunk=65536"
    again='greet greeted'
    ;;
esac

folder=$(mktemp -d)
cd "$folder" || exit 1
export JDK_JAVA_OPTIONS="-XX:+UseSerialGC -XX:TieredStopAtLevel=1 -XX:-UsePerfData"
# At this level UCX names the transport of each lane.
export UCX_LOG_LEVEL=info
trap clean_up EXIT
trap 'fail "not done in time"' TERM

clean_up() {
  # shellcheck disable=SC2046 # several processes
  kill $(jobs -p) 2>/dev/null
  rm -rf "$folder"
}

fail() {
  tail -n 2 ss.said
  tail -n 20 client.said server.said
  echo "$*"
  exit 1
}

# program NAME CLASS ARGUMENTS...: starts it, its commands in the pipe NAME.
program() {
  local name=$1 class=$2 java=$JAVA_HOME environment=() options=()
  shift 2
  mkfifo "$name"
  if [ "$name" = "$BY_JUCX" ]; then
    java=$JAVA17_HOME
    # What Java 17 cannot set, and "talaria run" would.
    environment=(UCX_LOG_FILE=stderr UCX_HANDLE_ERRORS=none UCX_WARN_UNUSED_ENV_VARS=n)
    options=("-Dtalaria.jucx=$JUCX_JAR")
  fi
  env "${environment[@]}" "$java/bin/java" -Dtalaria.transports=ucx "${options[@]}" \
    "-javaagent:$ROOT/dist/talaria.jar" -cp "$CLASSES" \
    "io.talaria.it.programs.$class" "$@" <"$name" >"$name.said" 2>&1 3>&- 4>&- &
}

# Whether a program has said something so many times.
said() {
  [ "$(grep -c "^@$2\b" "$1.said")" -ge "$3" ]
}

# await NAME EVENT COUNT
await() {
  until said "$@"; do
    if grep -q '^@failed' "$1.said" || ! kill -0 "$server" 2>/dev/null || ! kill -0 "$client" 2>/dev/null; then
      fail "$1 has not said: $2"
    fi
    sleep 0.1
  done
}

both() {
  echo "$1" >&3
  echo "$1" >&4
}

# both_say EVENT COUNT
both_say() {
  await server "$@"
  await client "$@"
}

# The connections in the last table of ss that are on UCX by the transport. JUCX does not tell which are in use; what
# UCX_TLS names is shown instead, and UCX's log is looked at below.
fast() {
  tail -n 1 ss.said | grep -o '{"id"[^}]*}' | grep '"transport":"ucx"' |
    grep "\"detail\":\"[^\"]*\(\b$TRANSPORT/\|by jucx [^\"]* ${UCX_TLS-}\"\)"
}

class_path=$ROOT/tools/cli/target/talaria-cli.jar
for jar in "$ROOT"/tools/cli/target/lib/*.jar; do
  class_path=$class_path:$jar
done

# shellcheck disable=SC2086 # several arguments
program server "$server_class" role=server first=you "bind=$ADDRESS" $arguments
server=$!
exec 3>server
client=$server
await server listening 1
port=$(sed -n 's/^@listening port=//p' server.said)
# shellcheck disable=SC2086
program client "$client_class" role=client first=me "host=$ADDRESS" "port=$port" $arguments
client=$!
exec 4>client
"$JAVA_HOME/bin/java" -cp "$class_path" io.talaria.cli.Main ss --watch 1 --json >ss.said 2>&1 3>&- 4>&- &

rounds=0
[ "$PROGRAM" = stream ] || rounds=1
until [ "$(fast | wc -l)" -eq 2 ]; do
  [ "$rounds" -eq 0 ] || both_say "${again#* }" "$rounds"
  rounds=$((rounds + 1))
  both "${again% *}"
  both_say "${again#* }" "$rounds"
  sleep 0.5
done
echo "on UCX after $rounds rounds:"
fast

if [ "$PROGRAM" = stream ]; then
  least=$STREAM_BYTES
  both go
  both_say finished 1
else
  least=$((16 * 5 * 10))
  for _ in 1 2 3 4 5 6 7 8 9 10; do
    rounds=$((rounds + 1))
    both again
    both_say talked "$rounds"
  done
fi
# Both ends, both directions.
tables=$(wc -l <ss.said)
until [ "$(wc -l <ss.said)" -ge $((tables + 2)) ]; do
  sleep 0.2
done
fast | grep -o '"accelerated\(In\|Out\)Bytes":[0-9]*' | sed 's/.*://' | awk -v least="$least" '
  $1 >= least { enough++ }
  END { exit enough != 4 }' || fail "less than $least bytes went by $TRANSPORT"
echo "at the end:"
fast
for side in server client; do
  grep "stream($TRANSPORT/" "$side.said" || fail "the $side streams by another transport than $TRANSPORT"
done

if [ -n "$BY_JUCX" ]; then
  fast | grep '"detail":"[^"]*by jucx' || fail "no side goes by JUCX"
fi

# A JUCX that is newer than libucp has UCX warn of that, and nothing else.
! grep 'UCX  \(WARN\|ERROR\)' server.said client.said | grep -v 'version is incompatible' || fail "UCX complains"

if [ "$PROGRAM" = stream ]; then
  both close
  both_say closed 1
else
  both end
  both_say ended 1
fi
exec 3>&- 4>&-
wait "$server" || fail "the server ended with $?"
wait "$client" || fail "the client ended with $?"
cat server.said client.said
