# Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0
#
# Finds a JDK that can build, and Maven. Sourced by the launcher.

readonly WANTED_JAVA=25

# Whether $1 is the home of a JDK (with a compiler) that is new enough.
good_jdk() {
  [ -n "$1" ] && [ -x "$1/bin/java" ] && [ -x "$1/bin/javac" ] || return 1
  jdk_version=$(sed -n 's/^JAVA_VERSION="\([0-9]*\).*/\1/p' "$1/release" 2>/dev/null)
  if [ -z "$jdk_version" ]; then
    jdk_version=$("$1/bin/java" -XshowSettings:properties -version 2>&1 |
      sed -n 's/^ *java\.specification\.version = \([0-9]*\).*/\1/p')
  fi
  [ -n "$jdk_version" ] && [ "$jdk_version" -ge "$WANTED_JAVA" ] 2>/dev/null
}

# The home of the java on the PATH, through symbolic links.
java_on_path() {
  on_path=$(command -v java) || return 1
  on_path=$(readlink -f "$on_path" 2>/dev/null) || return 1
  dirname "$(dirname "$on_path")"
}

find_jdk() {
  for home in "${TALARIA_JAVA_HOME-}" "${JAVA_HOME-}" "$(java_on_path)" \
    /usr/lib/jvm/* /usr/java/* /opt/*jdk* /opt/java/* /opt/jdk/* \
    "${HOME-}"/.sdkman/candidates/java/* "${HOME-}"/.jdks/* \
    /Library/Java/JavaVirtualMachines/*/Contents/Home; do
    if good_jdk "$home"; then
      printf '%s\n' "$home"
      return 0
    fi
  done
  return 1
}

need_jdk() {
  check_java_home
  if [ -n "${TALARIA_JAVA_HOME-}" ] && ! good_jdk "$TALARIA_JAVA_HOME"; then
    missing "TALARIA_JAVA_HOME=$TALARIA_JAVA_HOME is no JDK $WANTED_JAVA or newer"
  fi
  JAVA_HOME=$(find_jdk) ||
    missing "no JDK $WANTED_JAVA or newer found; install one, or set TALARIA_JAVA_HOME to its folder"
  export JAVA_HOME
}

need_maven() {
  if command -v mvn >/dev/null 2>&1; then
    MVN=mvn
  elif [ -n "${MAVEN_HOME-}" ] && [ -x "$MAVEN_HOME/bin/mvn" ]; then
    MVN=$MAVEN_HOME/bin/mvn
  else
    missing "no Maven found; install it (package maven), or set MAVEN_HOME to its folder"
  fi
}
