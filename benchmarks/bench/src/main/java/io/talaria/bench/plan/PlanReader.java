// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.plan;

import com.fasterxml.jackson.core.JsonLocation;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
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

  private static final int MAX_FILE_BYTES = 1 << 20;
  private static final int MAX_CONNECTIONS_OF_ALL = 2_048;
  private static final String TRANSPORTS = "transports";

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
      bytes = in.readNBytes(MAX_FILE_BYTES + 1);
    } catch (NoSuchFileException e) {
      throw unreadable(name, "there is no such file");
    } catch (AccessDeniedException e) {
      throw unreadable(name, "permission denied");
    } catch (IOException e) {
      throw unreadable(name, e.getMessage());
    }
    if (bytes.length > MAX_FILE_BYTES) {
      throw unreadable(name, "it is larger than " + MAX_FILE_BYTES + " bytes");
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
    JsonNode tree = tree(file, json);
    PlanSchema.check(file, tree);
    ObjectNode description = (ObjectNode) tree;
    description.remove("$schema"); // for editors
    PlanSchema.addDefaults(description);
    refuseTransports(file, description);
    RunPlan plan;
    try {
      plan = MAPPER.treeToValue(description, RunPlan.class);
    } catch (JsonProcessingException e) {
      throw new IllegalStateException("the schema takes what the record does not", e);
    }
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

  /** Refuses transports where nothing uses any, and none where something does. */
  private static void refuseTransports(String file, ObjectNode description) throws PlanException {
    boolean needed = false;
    for (JsonNode binding : description.get("bindings")) {
      needed |= MAPPER.convertValue(binding, BindingKind.class).sockets();
    }
    if (needed && !description.has(TRANSPORTS)) {
      throw new PlanException(file + ": $." + TRANSPORTS + " is missing");
    }
    if (!needed && description.has(TRANSPORTS)) {
      throw new PlanException(
          file
              + ": $."
              + TRANSPORTS
              + " must be left out: no binding uses sockets, and only these have a transport");
    }
  }

  /** Refuses more connections between many processes than a machine has threads for. */
  private static void refuseCrowds(String file, RunPlan plan) throws PlanException {
    for (LinkImplementation implementation : plan.implementations()) {
      for (Case one : plan.cases(implementation)) {
        if (one.connectionsOfAll() > MAX_CONNECTIONS_OF_ALL) {
          throw new PlanException(
              file
                  + ": $.processes: "
                  + one.processes()
                  + " processes with "
                  + one.connections()
                  + " connections for each pair are "
                  + one.connectionsOfAll()
                  + " connections; it must be at most "
                  + MAX_CONNECTIONS_OF_ALL);
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
