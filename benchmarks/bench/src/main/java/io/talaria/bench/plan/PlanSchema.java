// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.plan;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.IntNode;
import com.fasterxml.jackson.databind.node.LongNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.networknt.schema.JsonSchema;
import com.networknt.schema.JsonSchemaFactory;
import com.networknt.schema.SpecVersion;
import com.networknt.schema.ValidationMessage;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The schema of descriptions, the one place that says which fields there are, their ranges and
 * defaults: {@code plan.schema.json}, which is for editors, too. Any thread may call it.
 */
final class PlanSchema {
  private static final String FIELDS = "properties";
  private static final String SIZES = "sizes";
  private static final JsonSchema SCHEMA = load();

  private PlanSchema() {}

  private static JsonSchema load() {
    try (InputStream text = PlanSchema.class.getResourceAsStream("plan.schema.json")) {
      return JsonSchemaFactory.getInstance(SpecVersion.VersionFlag.V202012).getSchema(text);
    } catch (IOException e) {
      throw new IllegalStateException("the schema of descriptions cannot be read", e);
    }
  }

  /**
   * Checks a description, and makes numbers of sizes with K and M.
   *
   * @param file its name, for messages
   * @param tree the description
   * @throws PlanException which names place, value and what is allowed
   */
  static void check(String file, JsonNode tree) throws PlanException {
    if (tree.get(SIZES) instanceof ArrayNode sizes) {
      for (int i = 0; i < sizes.size(); i++) {
        sizes.set(i, binary(sizes.get(i)));
      }
    }
    Optional<ValidationMessage> first = SCHEMA.validate(tree).stream().findFirst();
    if (first.isPresent()) {
      throw new PlanException(file + ": " + sentence(first.get()));
    }
  }

  /** Adds what the description leaves to the schema. */
  static void addDefaults(ObjectNode description) {
    addDefaults(description, SCHEMA.getSchemaNode());
  }

  private static void addDefaults(ObjectNode object, JsonNode schema) {
    for (Map.Entry<String, JsonNode> field : schema.get(FIELDS).properties()) {
      JsonNode standard = field.getValue().get("default");
      if (standard != null && !object.has(field.getKey())) {
        object.set(field.getKey(), standard.deepCopy());
      } else if (object.get(field.getKey()) instanceof ObjectNode inner) {
        addDefaults(inner, field.getValue());
      }
    }
  }

  /** 4K and 1M are 4,096 and 1,048,576. */
  private static JsonNode binary(JsonNode size) {
    String text = size.asText();
    if (!size.isTextual() || !text.matches("\\d{1,5}[KM]")) {
      return size;
    }
    long digits = Long.parseLong(text.substring(0, text.length() - 1));
    long bytes = digits << (text.endsWith("K") ? 10 : 20);
    // As the parser would have read it, or 4K would differ from 4096.
    return (int) bytes == bytes ? IntNode.valueOf((int) bytes) : LongNode.valueOf(bytes);
  }

  private static String sentence(ValidationMessage wrong) {
    String place = wrong.getInstanceLocation().toString();
    return switch (wrong.getType()) {
      case "required" -> place + "." + wrong.getProperty() + " is missing";
      case "additionalProperties" ->
          place
              + "."
              + wrong.getProperty()
              + " is unknown; known are "
              + String.join(", ", names(schemaOf(wrong)));
      case "uniqueItems" -> is(wrong, place) + "a list of different values";
      default -> is(wrong, place) + wanted(schemaOf(wrong));
    };
  }

  private static String is(ValidationMessage wrong, String place) {
    return place + " is " + wrong.getInstanceNode() + "; it must be ";
  }

  /** The schema of the value that is wrong. */
  private static JsonNode schemaOf(ValidationMessage wrong) {
    JsonNode schema = SCHEMA.getSchemaNode();
    for (int i = 0; i < wrong.getInstanceLocation().getNameCount(); i++) {
      Object name = wrong.getInstanceLocation().getElement(i);
      schema =
          name instanceof Integer ? schema.get("items") : schema.get(FIELDS).get(name.toString());
    }
    return schema;
  }

  private static List<String> names(JsonNode schema) {
    List<String> names = new ArrayList<>();
    schema.get(FIELDS).fieldNames().forEachRemaining(names::add);
    return names;
  }

  private static String wanted(JsonNode schema) {
    if (schema.has("anyOf")) {
      return wanted(schema.get("anyOf").get(0));
    }
    if (schema.has("enum")) {
      List<String> words = new ArrayList<>();
      schema.get("enum").forEach(word -> words.add(word.asText()));
      return "one of " + String.join(", ", words);
    }
    return switch (schema.get("type").asText()) {
      case "integer" -> "a whole number" + range(schema);
      case "number" -> "a number" + range(schema);
      case "array" -> "a list, [ … ], of at least one";
      case "object" -> "an object, { … }";
      default -> "text" + (schema.has("pattern") ? " like " + schema.get("pattern").asText() : "");
    };
  }

  private static String range(JsonNode schema) {
    return " from " + schema.get("minimum").asText() + " to " + schema.get("maximum").asText();
  }
}
