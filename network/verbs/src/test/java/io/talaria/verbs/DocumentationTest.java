// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
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

  /** A method, or a type's method, in the second column; C has other names. */
  private static final Pattern METHOD =
      Pattern.compile("`((?:[A-Z]\\w*\\.)*(?!ibv_|rdma_|binding`)[a-z]\\w*)`");

  @Test
  void everyFunctionOfVerbsIsInTheTable() throws IOException {
    assertThat(missing(VERBS, "\\bibv_[a-z0-9_]+(?=\\()", 140)).isEmpty();
  }

  @Test
  void everyFunctionOfRdmaCmIsInTheTable() throws IOException {
    assertThat(missing(CM, "\\brdma_[a-z0-9_]+(?=\\()", 35)).isEmpty();
  }

  /** Methods in the second column: {@code Type.method}, or {@code method} of the type before it. */
  @Test
  void everyMethodInTheTableIsThere() throws IOException {
    List<String> wrong = new ArrayList<>();
    int checked = 0;
    for (String line : Files.readAllLines(document())) {
      if (!line.startsWith("| `ibv_") && !line.startsWith("| `rdma_")) {
        continue;
      }
      Class<?> type = null;
      for (MatchResult hit : METHOD.matcher(line.split("\\|")[2]).results().toList()) {
        String word = hit.group(1);
        int dot = word.lastIndexOf('.');
        type = dot < 0 ? type : type(type, word.substring(0, dot));
        if (type == null && line.contains("| none: ")) {
          continue; // a hint at a method that is in the table elsewhere
        }
        checked++;
        if (type == null || !has(type, word.substring(dot + 1))) {
          wrong.add(word + " in: " + line);
        }
      }
    }
    assertThat(wrong).isEmpty();
    assertThat(checked).isGreaterThan(100);
  }

  private static Class<?> type(Class<?> before, String name) {
    String nested = name.replace('.', '$');
    for (String full :
        new String[] {
          "io.talaria.verbs." + nested,
          "io.talaria.verbs.cm." + nested,
          before == null ? nested : before.getName() + "$" + nested
        }) {
      try {
        return Class.forName(full);
      } catch (ClassNotFoundException e) {
        // It is of another package, or belongs to the type before it.
      }
    }
    return null;
  }

  private static boolean has(Class<?> type, String method) {
    return Arrays.stream(type.getMethods()).anyMatch(each -> each.getName().equals(method));
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
    return Files.exists(here) ? here : Path.of("../../docs/verbs.md");
  }
}
