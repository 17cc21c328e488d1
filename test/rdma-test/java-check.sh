#!/bin/bash
# Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0
#
# Runs a check of checks.list: the JVMs of all rows with its name at the same time. Ends with 0 once all
# have, or with the first other status.
# Usage: java-check.sh NAME
#        java-check.sh --list     lines "NAME SECONDS TRAFFIC"
#        java-check.sh --paths    the class and module paths

set -u

ROOT=${ROOT:-$(cd "$(dirname "$0")/../.." && pwd -P)}
readonly ROOT

# All rows without comments, the fields trimmed.
rows() {
  sed -e '/^[[:space:]]*\(#\|$\)/d' -e 's/[[:space:]]*|[[:space:]]*/|/g' -e 's/^[[:space:]]*//' -e 's/[[:space:]]*$//' \
    "$ROOT/test/rdma-test/checks.list"
}

if [ "$1" = --list ]; then
  rows | awk -F '|' '
    { if (!($1 in limit)) names[++count] = $1 }
    !($1 in limit) || $6 > limit[$1] { limit[$1] = $6 == "" ? 120 : $6 }
    { traffic[$1] = $7 == "" ? "packets" : $7 }
    END { for (i = 1; i <= count; i++) print names[i], limit[names[i]], traffic[names[i]] }'
  exit
fi

if [ "$1" = --paths ]; then
  rows | cut -d '|' -f 2 | sort -u
  exit
fi

# Every folder and jar of a path must be there; Java itself would only miss the class.
check_built() {
  local entry
  while read -r -d : entry; do
    [ -e "${entry%/\*}" ] || {
      echo "not built: $entry"
      exit 1
    }
  done <<<"$1:"
}

# Relative paths are the project's; SCRATCH is a folder for the JVMs of this check to meet in.
cd "$ROOT" || exit 1
SCRATCH=$(mktemp -d)
export SCRATCH
# Also for the JVMs that a check starts itself: small, and with the quick compiler, which is what counts here.
export JDK_JAVA_OPTIONS="-XX:+UseSerialGC -XX:TieredStopAtLevel=1 -XX:-UsePerfData --enable-native-access=ALL-UNNAMED"

count=0
while IFS='|' read -r _ path main arguments environment _ _ prints; do
  check_built "$path"
  case " $main " in
    *' -m '*) option=--module-path ;;
    *) option=--class-path ;;
  esac
  count=$((count + 1))
  (
    eval "env $environment ${prints:+'$ROOT/test/rdma-test/expect.sh' '$prints'}" \
      "'$JAVA_HOME/bin/java' $option '$path' $main $arguments"
    echo $? >"$SCRATCH/.new$count"
    mv "$SCRATCH/.new$count" "$SCRATCH/.status$count"
  ) &
done < <(rows | awk -F '|' -v name="$1" '$1 == name')

[ "$count" -gt 0 ] || {
  echo "no row of this name in checks.list"
  exit 1
}
while :; do
  ended=0
  for file in "$SCRATCH"/.status*; do
    [ -e "$file" ] || continue
    status=$(cat "$file")
    [ "$status" -eq 0 ] || exit "$status"
    ended=$((ended + 1))
  done
  [ "$ended" -lt "$count" ] || exit 0
  sleep 0.2
done
