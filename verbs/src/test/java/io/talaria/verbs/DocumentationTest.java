// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.verbs;

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

/** Holds the tables of functions to the installed headers. */
class DocumentationTest {
  private static final Path VERBS = Path.of("/usr/include/infiniband/verbs.h");
  private static final Path CM = Path.of("/usr/include/rdma/rdma_cma.h");
  private static final Pattern COMMENT = Pattern.compile("/\\*.*?\\*/", Pattern.DOTALL);
  private static final Pattern DIRECTIVE = Pattern.compile("#(?:[^\\n]*\\\\\\n)*[^\\n]*");

  @Test
  void everyFunctionOfVerbsIsInTheTable() throws IOException {
    assertThat(missing(VERBS, "\\bibv_[a-z0-9_]+(?=\\()", 140)).isEmpty();
  }

  @Test
  void everyFunctionOfRdmaCmIsInTheTable() throws IOException {
    assertThat(missing(CM, "\\brdma_[a-z0-9_]+(?=\\()", 35)).isEmpty();
  }

  private static Set<String> missing(Path path, String function, int atLeast) throws IOException {
    assumeTrue(Files.exists(path), path + " is missing (libibverbs-dev, librdmacm-dev)");
    String header = COMMENT.matcher(Files.readString(path)).replaceAll(" ");
    header = DIRECTIVE.matcher(header).replaceAll(" ");
    Set<String> functions =
        Pattern.compile(function)
            .matcher(header)
            .results()
            .map(MatchResult::group)
            .collect(Collectors.toCollection(TreeSet::new));
    assertThat(functions).hasSizeGreaterThan(atLeast);
    String table = Files.readString(document());
    functions.removeIf(each -> table.contains("`" + each + "`"));
    return functions;
  }

  private static Path document() {
    Path here = Path.of("docs/verbs.md");
    return Files.exists(here) ? here : Path.of("../docs/verbs.md");
  }
}
