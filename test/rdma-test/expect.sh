#!/bin/bash
# Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0
#
# Runs a command that must end with 0 and print a line with the basic regular expression in it.
# Usage: expect.sh EXPRESSION COMMAND...

set -uo pipefail

expression=$1
shift
said=$(mktemp)

"$@" 2>&1 | tee "$said" || exit
grep -q -e "$expression" "$said" || {
  echo "not in the output: $expression"
  exit 1
}
