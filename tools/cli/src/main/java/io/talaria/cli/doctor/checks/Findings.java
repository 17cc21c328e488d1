// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli.doctor.checks;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Findings as they are handed out. */
public final class Findings {
  private Findings() {}

  /** As text for the user: a line each, and one for its hint, all ended by a line feed. */
  public static String text(List<Finding> findings) {
    int width = findings.stream().mapToInt(finding -> finding.name().length()).max().orElse(0);
    StringBuilder out = new StringBuilder();
    for (Finding finding : findings) {
      out.append(
          String.format(
              Locale.ROOT,
              "%-7s  %-" + Math.max(1, width) + "s  %s%n",
              finding.status().word(),
              finding.name(),
              finding.found()));
      if (!finding.hint().isEmpty()) {
        out.append(" ".repeat(width + 11)).append("→ ").append(finding.hint()).append('\n');
      }
    }
    return out.toString();
  }

  /** For machines. */
  public static List<Map<String, Object>> tree(List<Finding> findings) {
    List<Map<String, Object>> checks = new ArrayList<>();
    for (Finding finding : findings) {
      Map<String, Object> check = new LinkedHashMap<>();
      check.put("name", finding.name());
      check.put("status", finding.status().word());
      check.put("found", finding.found());
      check.put("hint", finding.hint());
      check.put("essential", finding.essential());
      checks.add(check);
    }
    return checks;
  }
}
