// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.plan;

import com.fasterxml.jackson.core.JsonLocation;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Reads and checks the file that describes a run. Any thread may call it. */
public final class PlanReader {
  /** The sets that need no file. */
  public static final List<String> SETS =
      List.of("quick", "paper", "scaling", "neutrino-messages", "neutrino-memory");

  /** The largest message. */
  public static final int MOST_BYTES = 32 << 20;

  private static final int MOST_FILE_BYTES = 1 << 20;
  private static final int MOST_CONNECTIONS = 1_024;
  private static final int MOST_PROCESSES = 32;
  private static final int MOST_CONNECTIONS_OF_ALL = 2_048;
  private static final int MOST_RATE = 10_000_000;
  private static final long MOST_OPERATIONS = 1_000_000_000_000L;
  private static final double MOST_SECONDS = 3_600;
  private static final int DAY_SECONDS = 86_400;

  private static final JsonMapper MAPPER =
      JsonMapper.builder().enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION).build();

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
    return parse(nameOrFile, text(nameOrFile));
  }

  private static String text(String name) throws PlanException {
    byte[] bytes;
    try (InputStream in = Files.newInputStream(Path.of(name))) {
      bytes = in.readNBytes(MOST_FILE_BYTES + 1);
    } catch (NoSuchFileException e) {
      throw unreadable(name, "there is no such file");
    } catch (AccessDeniedException e) {
      throw unreadable(name, "permission denied");
    } catch (IOException e) {
      throw unreadable(name, e.getMessage());
    }
    if (bytes.length > MOST_FILE_BYTES) {
      throw unreadable(name, "it is larger than " + MOST_FILE_BYTES + " bytes");
    }
    try {
      return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
    } catch (CharacterCodingException e) {
      throw unreadable(name, "it is no text in UTF-8");
    }
  }

  private static PlanException unreadable(String name, String why) {
    return new PlanException(
        "'"
            + name
            + "' cannot be read: "
            + why
            + "; ready-made sets are "
            + String.join(", ", SETS));
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
    Fields fields = new Fields(file, "$", tree(file, json));
    String unusedSchema = fields.text("$schema", "", ".*", "text: for editors");
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

  private static JsonNode tree(String file, String json) throws PlanException {
    if (json.isBlank()) {
      throw new PlanException(file + " is empty; it must hold an object, { … }");
    }
    try (JsonParser parser = MAPPER.createParser(json)) {
      JsonNode root = parser.readValueAsTree();
      if (parser.nextToken() != null) {
        throw new PlanException(
            file + " is no JSON:" + place(parser.currentLocation()) + " more follows its end");
      }
      return root;
    } catch (JsonProcessingException e) {
      throw new PlanException(
          file + " is no JSON:" + place(e.getLocation()) + " " + e.getOriginalMessage());
    } catch (IOException e) {
      throw new IllegalStateException(e); // it is all in memory
    }
  }

  /** Says where; too deep, too long a name or number have no place. */
  private static String place(JsonLocation location) {
    return location == null
        ? ""
        : " line " + location.getLineNr() + ", column " + location.getColumnNr() + ":";
  }

  private static List<Road> roads(Fields fields, List<BindingKind> bindings) throws PlanException {
    List<Road> all = List.of(Road.PLAIN, Road.SHM, Road.UCX);
    boolean needed = bindings.stream().anyMatch(BindingKind::sockets);
    if (!needed) {
      fields.refuse("roads", "no binding uses sockets, and only these have a road");
      return List.of();
    }
    return fields.names("roads", all, Road::label);
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
    for (LinkContender contender : plan.contenders()) {
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
      if (plan.sizes().stream().noneMatch(binding::supports)) {
        idle.add("binding " + binding.label() + " can do none of the sizes, but 4 and 8");
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
