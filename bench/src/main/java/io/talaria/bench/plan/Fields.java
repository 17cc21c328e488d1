// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.plan;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.function.Function;

/** The fields of an object in JSON, each checked as it is taken. Used by one thread. */
final class Fields {
  private final String file;
  private final String path;
  private final JsonNode object;
  private final Set<String> known = new LinkedHashSet<>();

  Fields(String file, String path, JsonNode object) throws PlanException {
    this.file = file;
    this.path = path;
    this.object = object;
    if (!object.isObject()) {
      throw wrong(path, object, "an object, { … }");
    }
  }

  private PlanException wrong(String where, JsonNode value, String wanted) {
    return new PlanException(file + ": " + where + " is " + value + "; it must be " + wanted);
  }

  private String place(String name) {
    return path + "." + name;
  }

  private JsonNode take(String name) {
    known.add(name);
    return object.get(name);
  }

  private JsonNode need(String name) throws PlanException {
    JsonNode node = take(name);
    if (node == null) {
      throw new PlanException(file + ": " + place(name) + " is missing");
    }
    return node;
  }

  /** Refuses fields that nobody has taken: a misspelt one would be ignored. */
  void refuseOthers() throws PlanException {
    for (var names = object.fieldNames(); names.hasNext(); ) {
      String name = names.next();
      if (!known.contains(name)) {
        throw new PlanException(
            file + ": " + place(name) + " is unknown; known are " + String.join(", ", known));
      }
    }
  }

  /** Refuses a field that has no meaning here. */
  void refuse(String name, String why) throws PlanException {
    if (object.has(name)) {
      throw new PlanException(file + ": " + place(name) + " must be left out: " + why);
    }
  }

  String text(String name, String otherwise, String pattern, String wanted) throws PlanException {
    JsonNode node = take(name);
    if (node == null) {
      return otherwise;
    }
    if (!node.isTextual() || !node.asText().matches(pattern)) {
      throw wrong(place(name), node, wanted);
    }
    return node.asText();
  }

  Fields object(String name) throws PlanException {
    return new Fields(file, place(name), need(name));
  }

  long integer(String name, long otherwise, long least, long most) throws PlanException {
    JsonNode node = take(name);
    return node == null ? otherwise : integer(place(name), node, least, most);
  }

  private long integer(String where, JsonNode node, long least, long most) throws PlanException {
    if (!node.isIntegralNumber()
        || !node.canConvertToLong()
        || node.asLong() < least
        || node.asLong() > most) {
      throw wrong(where, node, "a whole number from " + least + " to " + most);
    }
    return node.asLong();
  }

  double decimal(String name, double otherwise, double least, double most) throws PlanException {
    JsonNode node = take(name);
    if (node == null) {
      return otherwise;
    }
    if (!node.isNumber() || !(node.asDouble() >= least && node.asDouble() <= most)) {
      throw wrong(
          place(name), node, String.format(Locale.ROOT, "a number from %s to %s", least, most));
    }
    return node.asDouble();
  }

  /** Takes a list of whole numbers; sizes may be written as 4K or 1M. */
  List<Integer> integers(String name, List<Integer> otherwise, long least, long most)
      throws PlanException {
    if (otherwise != null && !object.has(name)) {
      take(name);
      return otherwise;
    }
    JsonNode list = list(name);
    List<Integer> all = new ArrayList<>();
    for (int i = 0; i < list.size(); i++) {
      all.add((int) integer(place(name) + "[" + i + "]", binary(list.get(i)), least, most));
    }
    return distinct(name, all);
  }

  private static JsonNode binary(JsonNode node) {
    String text = node.asText();
    if (!node.isTextual() || !text.matches("\\d{1,5}[KM]")) {
      return node;
    }
    long digits = Long.parseLong(text.substring(0, text.length() - 1));
    return com.fasterxml.jackson.databind.node.LongNode.valueOf(
        digits << (text.endsWith("K") ? 10 : 20));
  }

  /** Takes a list of names. */
  <E> List<E> names(String name, List<E> values, Function<E, String> label) throws PlanException {
    JsonNode list = list(name);
    List<E> all = new ArrayList<>();
    for (int i = 0; i < list.size(); i++) {
      JsonNode node = list.get(i);
      E found = null;
      for (E value : values) {
        if (node.isTextual() && label.apply(value).equals(node.asText())) {
          found = value;
        }
      }
      if (found == null) {
        throw wrong(
            place(name) + "[" + i + "]",
            node,
            "one of " + String.join(", ", values.stream().map(label).toList()));
      }
      all.add(found);
    }
    return distinct(name, all);
  }

  private JsonNode list(String name) throws PlanException {
    JsonNode node = need(name);
    if (!node.isArray() || node.isEmpty()) {
      throw wrong(place(name), node, "a list, [ … ], of at least one");
    }
    return node;
  }

  private <E> List<E> distinct(String name, List<E> all) throws PlanException {
    if (new LinkedHashSet<>(all).size() < all.size()) {
      throw wrong(place(name), object.get(name), "a list of different values");
    }
    return all;
  }
}
