// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.ucx;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** Holds the table of functions to the installed header. */
class DocumentationTest {
  private static final Path HEADER = Path.of("/usr/include/ucp/api/ucp.h");
  private static final Pattern FUNCTION = Pattern.compile("\\bucp_[a-z0-9_]+(?=\\()");
  private static final Pattern COMMENT = Pattern.compile("/\\*.*?\\*/", Pattern.DOTALL);

  @Test
  void everyFunctionIsInTheTable() throws IOException {
    assumeTrue(Files.exists(HEADER), HEADER + " is missing (libucx-dev)");
    String header = COMMENT.matcher(Files.readString(HEADER)).replaceAll(" ");
    Set<String> missing =
        FUNCTION
            .matcher(header)
            .results()
            .map(MatchResult::group)
            .collect(Collectors.toCollection(TreeSet::new));
    assertThat(missing).hasSizeGreaterThan(80);
    String table = Files.readString(document());
    missing.removeIf(function -> table.contains("`" + function + "`"));
    assertThat(missing).isEmpty();
  }

  private static Path document() {
    Path here = Path.of("docs/ucx.md");
    return Files.exists(here) ? here : Path.of("../../docs/ucx.md");
  }
}
