// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli.harness;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** JSON as the harness uses it: one line between processes, indented for files. Thread-safe. */
public final class Json {
  private static final ObjectMapper MAPPER =
      new ObjectMapper().disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES);

  private Json() {}

  /**
   * Returns a value as one line of JSON.
   *
   * @param value a record, map, list or simple value
   */
  public static String line(Object value) {
    try {
      return MAPPER.writeValueAsString(value);
    } catch (JsonProcessingException e) {
      throw new IllegalArgumentException("no JSON for " + value, e);
    }
  }

  /**
   * Returns a figure as JSON can say it, which has no word for one that does not exist but null.
   *
   * @param value the figure
   */
  public static Double number(double value) {
    return Double.isFinite(value) ? value : null;
  }

  /**
   * Parses one line.
   *
   * @param line the text
   * @throws IOException if it is not JSON
   */
  public static JsonNode parse(String line) throws IOException {
    return MAPPER.readTree(line);
  }

  /**
   * Converts a value to the tree form of JSON.
   *
   * @param value a record, map, list or simple value
   */
  public static JsonNode tree(Object value) {
    return MAPPER.valueToTree(value);
  }

  /**
   * Converts a tree to a value.
   *
   * @param <T> the type wanted
   * @param node the tree
   * @param type the type wanted, usually a record
   * @throws IOException if the tree does not fit the type
   */
  public static <T> T as(JsonNode node, Class<T> type) throws IOException {
    return MAPPER.treeToValue(node, type);
  }

  /**
   * Writes a value to a file, indented.
   *
   * @param file the file, replaced if it exists
   * @param value what to write
   * @throws IOException if the file cannot be written
   */
  public static void write(Path file, Object value) throws IOException {
    Files.writeString(
        file,
        MAPPER.writer().with(SerializationFeature.INDENT_OUTPUT).writeValueAsString(value) + "\n");
  }
}
