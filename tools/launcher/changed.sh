# Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0
#
# Which modules a change concerns: those that differ from a commit, and those that depend on them.
# Sourced by the launcher.

# A module with this file is built, but not tested, by Maven with -Dtest.changed; the parent pom.xml reads both.
readonly UNCONCERNED=target/not-concerned

# The folders of all modules, in the order of the build.
all_modules() {
  sed -n 's,.*<module>\(.*\)</module>.*,\1,p' "$ROOT/pom.xml"
}

# The files that differ from commit $1, those that git does not know yet included.
changed_files() {
  git -C "$ROOT" diff --name-only "$1" -- && git -C "$ROOT" ls-files --others --exclude-standard
}

# The module that tests file $1, "all" if each may do, nothing if none does.
modules_of() {
  owner=
  for module in $(all_modules); do
    case $1 in
      "$module"/*) [ ${#module} -lt ${#owner} ] || owner=$module ;;
    esac
  done
  case $owner:$1 in
    ?*:*) printf '%s\n' "$owner" ;;
    :pom.xml | :.mvn/*) echo all ;;
    :talaria | :tools/launcher/* | :.ci/*) echo tools/cli ;;
    :docs/* | :*.md)
      # Tests compare documents with the code.
      for module in $(all_modules); do
        ! grep -rqE '"(docs|\.\./\.\./docs)|\.md"' "$ROOT/$module/src/test" --include='*.java' 2>/dev/null || printf '%s\n' "$module"
      done
      ;;
  esac
}

# The artifact of module $1, as other modules name it.
artifact() {
  sed -n '/<\/parent>/,$s,^  <artifactId>\(.*\)</artifactId>.*,\1,p' "$ROOT/$1/pom.xml" | head -n 1
}

# The modules that change $1 (a commit) concerns, in the order of the build: a module follows those
# that it depends on, so one pass finds all.
concerned_modules() {
  files=$(changed_files "$1") || return 1
  concerned=" $(printf '%s\n' "$files" | while IFS= read -r file; do modules_of "$file"; done | sort -u | tr '\n' ' ')"
  for module in $(all_modules); do
    case $concerned in
      *' all '* | *" $module "*) ;;
      *)
        for other in $concerned; do
          if grep -qE "<artifactId>$(artifact "$other")</artifactId>|}/$other/" "$ROOT/$module/pom.xml"; then
            concerned="$concerned$module "
            break
          fi
        done
        ;;
    esac
  done
  for module in $(all_modules); do
    case $concerned in
      *' all '* | *" $module "*) printf '%s\n' "$module" ;;
    esac
  done
}

# Has the build test the modules $1 (with spaces between) alone.
mark_unconcerned() {
  unmark
  for module in $(all_modules); do
    case " $1 " in
      *" $module "*) ;;
      *) mkdir -p "$ROOT/$module/target" && : >"$ROOT/$module/$UNCONCERNED" ;;
    esac
  done
}

unmark() {
  for module in $(all_modules); do
    rm -f "$ROOT/$module/$UNCONCERNED"
  done
}
