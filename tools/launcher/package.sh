# Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0
#
# Makes the release. Sourced by the launcher.

package_usage() {
  cat <<'END'
Usage: ./talaria package

Builds dist/talaria-VERSION.tar.gz and its checksum from the sources.

The archive holds README.md, bin/talaria, the agent talaria.jar, the jars of the commands, the
documentation, how to report a vulnerability, the licence, a software bill of materials (sbom.json,
CycloneDX) and SHA256SUMS.
It needs only Java 17 or newer; some commands need Java 25 and say so.

Exit status: 0 built, 1 failed, 2 wrong usage, 69 a JDK or Maven is missing.

  ./talaria package && tar -xzf dist/talaria-*.tar.gz && talaria-*/bin/talaria doctor
END
}

run_package() {
  case ${1-} in
    '') ;;
    -h | --help)
      package_usage
      exit 0
      ;;
    *) unknown_option package "$1" ;;
  esac
  need_jdk
  need_maven
  WANTED="$WANTED message-passing/mpj message-passing/mpj-examples messaging/messaging"
  WANTED="$WANTED applications/workloads"
  version=$(project_version)
  release=$ROOT/dist/talaria-$version
  log=$ROOT/dist/package.log
  mkdir -p "$ROOT/dist" || exit "$STATUS_FAILED"
  say "building with $JAVA_HOME (log in dist/package.log)"
  rm -rf "$ROOT/benchmarks/bench/target/lib" "$ROOT/applications/workloads/target/lib" "$release" "$release.tar.gz"*
  # The parent, too: what is in the release is listed for all modules in one file, there.
  (cd "$ROOT" && "$MVN" -B -Dmaven.test.skip=true -DskipTests \
    -pl ".,$(printf '%s\n' "$WANTED" | tr ' ' ,)" -am package \
    org.cyclonedx:cyclonedx-maven-plugin:makeAggregateBom) >"$log" 2>&1 || {
    grep -E '^\[ERROR\]' "$log" | head -n 20 >&2
    say "the build failed; all of it is in $log"
    exit "$STATUS_FAILED"
  }
  fill_release && pack_release || {
    say "the release could not be made in $ROOT/dist"
    exit "$STATUS_FAILED"
  }
  say "made: $release.tar.gz"
}

# Puts everything into the folder $release.
fill_release() {
  mkdir -p "$release/bin" "$release/lib/core" "$release/launcher" &&
    cp "$ROOT/tools/launcher/release.sh" "$release/bin/talaria" &&
    chmod 755 "$release/bin/talaria" &&
    cp "$ROOT/tools/launcher/run.sh" "$release/launcher/" &&
    cp "$ROOT/tools/launcher/common.sh" "$release/launcher/" &&
    cp "$AGENT" "$release/talaria.jar" &&
    cp "$ROOT/dist/talaria-mpj.jar" "$ROOT/dist/talaria-mpj-examples.jar" "$release/" &&
    cp "$CLI" "$ROOT"/tools/cli/target/lib/*.jar "$release/lib/core/" &&
    copy_missing "$BENCH" "$WORKLOADS" "$ROOT"/benchmarks/bench/target/lib/*.jar \
      "$ROOT"/applications/workloads/target/lib/*.jar &&
    cp "$ROOT/tools/launcher/release/README.md" "$ROOT/CHANGELOG.md" "$ROOT/CONTRIBUTING.md" \
      "$ROOT/SECURITY.md" "$ROOT/LICENSE" "$release/" &&
    cp -R "$ROOT/docs" "$release/docs" &&
    cp "$ROOT/target/bom.json" "$release/sbom.json" &&
    printf '%s\n' "$version" >"$release/VERSION"
}

# What ss and doctor need lies apart from the rest: each jar on the class path is a descriptor.
copy_missing() {
  for jar in "$@"; do
    [ -f "$release/lib/${jar##*/}" ] || [ -f "$release/lib/core/${jar##*/}" ] || cp "$jar" "$release/lib/" || return 1
  done
}

# Sums, then the archive: the same files in the same order with the same owner and time.
pack_release() {
  (
    cd "$release" &&
      find . -type f ! -name SHA256SUMS | LC_ALL=C sort | sed 's/^\.\///' |
      tr '\n' '\0' | xargs -0 sha256sum >SHA256SUMS
  ) || return 1
  (
    cd "$ROOT/dist" &&
      tar --sort=name --owner=0 --group=0 --numeric-owner --mtime='2026-01-01 00:00:00Z' \
        -cf - "${release##*/}" | gzip -n9 >"${release##*/}.tar.gz" &&
      sha256sum "${release##*/}.tar.gz" >"${release##*/}.tar.gz.sha256" &&
      rm -rf "$release"
  )
}
