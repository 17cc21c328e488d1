# Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0
#
# Exit statuses, and what is said of wrong words. Sourced by the launcher.

# What all commands end with; kept by LauncherTest, told in docs/commands.md.
readonly STATUS_FAILED=1
readonly STATUS_USAGE=2
readonly STATUS_MISSING=69 # EX_UNAVAILABLE of sysexits.h

say() {
  printf 'talaria: %s\n' "$*" >&2
}

missing() {
  say "$*"
  exit "$STATUS_MISSING"
}

unknown_option() {
  say "$1: unknown option $2; try: $NAME $1 --help"
  exit "$STATUS_USAGE"
}

# Ends, because of a wrong word, $2: says what is wrong, $1, which of the words $3 is near to it, and what helps, $4.
wrong_word() {
  meant=$(nearest "$2" "$3")
  if [ -n "$meant" ]; then
    say "$1, did you mean $meant? $(printf '%s\n' "$4" | sed 's/^t/T/')"
  else
    say "$1; $4"
  fi
  exit "$STATUS_USAGE"
}

# Ends if TALARIA_JAVA_HOME names no Java: who sets it wants no other one.
check_java_home() {
  [ -z "${TALARIA_JAVA_HOME-}" ] || [ -x "$TALARIA_JAVA_HOME/bin/java" ] ||
    missing "TALARIA_JAVA_HOME=$TALARIA_JAVA_HOME: there is no $TALARIA_JAVA_HOME/bin/java"
}

# All commands, in the order of the usage.
commands() {
  usage | sed -n 's/^  \([a-z][a-z-]*\)[ A-Z[].*/\1/p' | uniq
  echo help
}

# The word of $2 that is near to $1, if there is one: one letter is wrong, or two of six.
nearest() {
  # shellcheck disable=SC2086
  printf '%s\n' $2 | awk -v wrong="$1" '
    function least(a, b) { return a < b ? a : b }
    function distance(s, t,    i, j, cost, d) {
      for (i = 0; i <= length(s); i++) d[i, 0] = i
      for (j = 0; j <= length(t); j++) d[0, j] = j
      for (i = 1; i <= length(s); i++) {
        for (j = 1; j <= length(t); j++) {
          cost = substr(s, i, 1) != substr(t, j, 1)
          d[i, j] = least(least(d[i - 1, j] + 1, d[i, j - 1] + 1), d[i - 1, j - 1] + cost)
          if (i > 1 && j > 1 && substr(s, i, 1) == substr(t, j - 1, 1) &&
              substr(s, i - 1, 1) == substr(t, j, 1)) {
            d[i, j] = least(d[i, j], d[i - 2, j - 2] + 1)
          }
        }
      }
      return d[length(s), length(t)]
    }
    {
      far = distance(wrong, $0)
      if (best == "" || far < nearest) { nearest = far; best = $0 }
    }
    END { if (best != "" && nearest <= (length(wrong) < 6 ? 1 : 2)) print best }'
}

# What a command has below it; the names are those of its line in the usage.
check_name() {
  set -- "$1" "${2-}"
  case $1:$2 in
    bench:-* | example:-*) return 0 ;;
    bench:* | example:*) ;;
    *) return 0 ;;
  esac
  names=$(usage | sed -n "s/^  $1 NAME  *\([a-z, ]*\):.*/\1/p; s/^  $1 \([a-z][a-z]*\) .*/\1/p" | tr -s ', \n' '   ')
  there="there are: $(printf '%s\n' $names | sort | paste -s -d ' ' -)"
  case " $names " in
    *" $2 "*) [ -z "$2" ] || return 0 ;;
  esac
  if [ -z "$2" ]; then
    say "$1: which one? T${there#t}"
    exit "$STATUS_USAGE"
  fi
  wrong_word "$1: unknown name $2" "$2" "$names" "$there"
}

# Ends if there is no such command.
known_command() {
  ! commands | grep -qxF -e "$1" || return 0
  wrong_word "unknown command $1" "$1" "$(commands)" "try: $NAME --help"
}
