// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.observatory.plan;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Reads and checks the file that describes a run. Any thread may call it. */
public final class PlanReader {
  /** The sets that need no file. */
  public static final List<String> SETS = List.of("quick", "paper", "scaling");

  /** The largest message. */
  public static final int MOST_BYTES = 16 << 20;

  private static final int MOST_CONNECTIONS = 1_024;
  private static final int MOST_PROCESSES = 32;
  private static final int MOST_CONNECTIONS_OF_ALL = 2_048;
  private static final int MOST_RATE = 10_000_000;
  private static final long MOST_OPERATIONS = 1_000_000_000_000L;
  private static final double MOST_SECONDS = 3_600;
  private static final int DAY_SECONDS = 86_400;

  private static final JsonMapper MAPPER =
      JsonMapper.builder()
          .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
          .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
          .build();

  private PlanReader() {}

  /**
   * Reads a set by its name, or a file.
   *
   * @param nameOrFile one of {@link #SETS}, or a file
   * @throws PlanException if there is none, or it is wrong
   */
  public static RunPlan read(String nameOrFile) throws PlanException {
    if (SETS.contains(nameOrFile)) {
      return parse(nameOrFile, resource(nameOrFile));
    }
    Path file = Path.of(nameOrFile);
    try {
      return parse(nameOrFile, Files.readString(file));
    } catch (IOException e) {
      throw new PlanException(
          nameOrFile
              + " cannot be read"
              + (Files.exists(file) ? " (" + e.getMessage() + ")" : ": there is no such file")
              + "; ready-made sets are "
              + String.join(", ", SETS));
    }
  }

  private static String resource(String name) {
    try (InputStream in = PlanReader.class.getResourceAsStream(name + ".json")) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new IllegalStateException("the set " + name + " cannot be read", e);
    }
  }

  /**
   * Reads a description.
   *
   * @param file its name, for messages
   * @param json its text
   * @throws PlanException if it is wrong
   */
  public static RunPlan parse(String file, String json) throws PlanException {
    JsonNode root;
    try {
      root = MAPPER.readTree(json);
    } catch (JsonProcessingException e) {
      throw new PlanException(
          file
              + " is no JSON: line "
              + e.getLocation().getLineNr()
              + ", column "
              + e.getLocation().getColumnNr()
              + ": "
              + e.getOriginalMessage());
    }
    Fields fields = new Fields(file, "$", root);
    String name =
        fields.text("name", "run", "[A-Za-z0-9._-]{1,40}", "up to 40 letters, digits, '.', '-'");
    List<BindingKind> bindings =
        fields.names("bindings", List.of(BindingKind.values()), BindingKind::label);
    List<Road> roads = roads(fields, bindings);
    List<Pattern> patterns = fields.names("patterns", List.of(Pattern.values()), Pattern::label);
    List<Integer> sizes = fields.integers("sizes", null, 1, MOST_BYTES);
    RunPlan plan =
        new RunPlan(
            name,
            bindings,
            roads,
            patterns,
            sizes,
            fields.integers("connections", List.of(1), 1, MOST_CONNECTIONS),
            fields.integers("processes", List.of(2), 2, MOST_PROCESSES),
            fields.integers("rates", List.of(0), 0, MOST_RATE),
            operations(fields.object("operations")),
            (int) fields.integer("halveFromBytes", 0, 0, MOST_BYTES),
            fields.decimal("seconds", 2, 0.001, MOST_SECONDS),
            fields.decimal("warmUpSeconds", 1, 0, MOST_SECONDS),
            (int) fields.integer("repetitions", 1, 1, 100),
            (int) fields.integer("threads", 0, 0, MOST_CONNECTIONS),
            fields.text("transports", "", "[A-Za-z0-9_,:^\\\\*-]{0,200}", "a value of UCX_TLS"),
            (int) fields.integer("limitSeconds", 60, 1, DAY_SECONDS));
    fields.refuseOthers();
    refuseIdle(file, plan);
    refuseCrowds(file, plan);
    return plan;
  }

  private static List<Road> roads(Fields fields, List<BindingKind> bindings) throws PlanException {
    List<Road> all = List.of(Road.PLAIN, Road.SHM, Road.UCX);
    boolean needed = bindings.stream().anyMatch(BindingKind::sockets);
    return needed ? fields.names("roads", all, Road::label) : List.of();
  }

  private static RunPlan.Operations operations(Fields fields) throws PlanException {
    RunPlan.Operations operations =
        new RunPlan.Operations(
            fields.integer("throughput", 1_000_000, 1, MOST_OPERATIONS),
            fields.integer("latency", 100_000, 1, MOST_OPERATIONS));
    fields.refuseOthers();
    return operations;
  }

  /** Refuses more connections between many processes than a machine has threads for. */
  private static void refuseCrowds(String file, RunPlan plan) throws PlanException {
    for (Contender contender : plan.contenders()) {
      for (Case one : plan.cases(contender)) {
        if (one.connectionsOfAll() > MOST_CONNECTIONS_OF_ALL) {
          throw new PlanException(
              file
                  + ": $.processes: "
                  + one.processes()
                  + " processes with "
                  + one.connections()
                  + " connections for each pair are "
                  + one.connectionsOfAll()
                  + " connections; it must be at most "
                  + MOST_CONNECTIONS_OF_ALL);
        }
      }
    }
  }

  /** Refuses patterns and bindings that have nothing to do with each other. */
  private static void refuseIdle(String file, RunPlan plan) throws PlanException {
    List<String> idle = new ArrayList<>();
    for (BindingKind binding : plan.bindings()) {
      if (plan.patterns().stream().noneMatch(binding::supports)) {
        idle.add("binding " + binding.label() + " can do none of the patterns");
      }
    }
    for (Pattern pattern : plan.patterns()) {
      if (plan.bindings().stream().noneMatch(binding -> binding.supports(pattern))) {
        idle.add("pattern " + pattern.label() + " can be done by none of the bindings");
      }
    }
    if (!idle.isEmpty()) {
      throw new PlanException(file + ": " + String.join("; ", idle));
    }
  }
}
