// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.codec;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * What a codec of {@link Codecs} writes, as another node tells it by {@link FormText}.
 *
 * <pre>
 *   form    record NAME(component;...)      component: name [varint] [nullable] form
 *           oneOf NAME(NAME form;...)       the leaves of a sealed interface, in their order
 *           enum[NAME, ...]  list(form)  array(form)  optional(form)
 *           ^NAME                           the record or the interface that has that name here
 *           TYPE                            a primitive type, its box, String, UUID, an array
 * </pre>
 *
 * <p>A record that is written as nothing cannot be named again: else a few names that name each
 * other twice would stand for more than can be read, in a message of no bytes.
 */
sealed interface Form {
  /** The longest text that is read. */
  int MAX_CHARS = 4096;

  /** How deep forms may be in each other. */
  int MAX_DEPTH = 64;

  /** The most components, constants or leaves of one. */
  int MAX_PARTS = 256;

  /** One call of {@link io.talaria.messaging.MessageReader}. */
  record Leaf(String type) implements Form {}

  /** A length, and elements. */
  record ListOf(Form element) implements Form {}

  /** The same. */
  record ArrayOf(Form element) implements Form {}

  /** Whether there is one, and the element. */
  record OptionalOf(Form element) implements Form {}

  /** The number of a constant. */
  record EnumOf(List<String> constants) implements Form {}

  /** Components, one after the other. */
  record RecordOf(String name, List<Part> components) implements Form {}

  /** The number of a leaf, and it. */
  record OneOf(String name, List<Part> leaves) implements Form {}

  /** What has that name. */
  record Known(String name) implements Form {}

  /** A component or a leaf. */
  record Part(String name, boolean varint, boolean nullable, Form form) {}

  /**
   * A text that was read.
   *
   * @param form what it begins with, and all that is in it
   * @param named the records and interfaces in it, by their names
   */
  record Whole(Form form, Map<String, Form> named) {
    /**
     * What has a name.
     *
     * @throws IllegalArgumentException if nothing has
     */
    Form of(Known known) {
      Form form = named.get(known.name());
      if (form == null) {
        throw new IllegalArgumentException("^" + known.name() + " is in no such form");
      }
      return form;
    }
  }

  /** Whether it is written as nothing at all. */
  static boolean isEmpty(Form form) {
    return form instanceof RecordOf record
        && record.components().stream().noneMatch(each -> each.nullable() || !isEmpty(each.form()));
  }

  /**
   * Reads one.
   *
   * @throws IllegalArgumentException if the text is none, or passes a limit
   */
  static Whole of(String text) {
    if (text.length() > MAX_CHARS) {
      throw new IllegalArgumentException("a form of " + text.length() + " characters");
    }
    Parser parser = new Parser(text);
    Form form = parser.form(0);
    if (parser.at != text.length()) {
      throw parser.wrong();
    }
    return new Whole(form, parser.named);
  }

  /** A position in a text. */
  final class Parser {
    private final String text;
    private final Map<String, Form> named = new HashMap<>();
    private int at;

    private Parser(String text) {
      this.text = text;
    }

    private IllegalArgumentException wrong() {
      return new IllegalArgumentException("no form at character " + at + " of " + text);
    }

    private boolean skip(String what) {
      boolean is = text.startsWith(what, at);
      at += is ? what.length() : 0;
      return is;
    }

    private void expect(String what) {
      if (!skip(what)) {
        throw wrong();
      }
    }

    /** Up to one of some characters, which stays. */
    private String word(String ends) {
      int from = at;
      while (at < text.length() && ends.indexOf(text.charAt(at)) < 0) {
        at++;
      }
      if (at == from) {
        throw wrong();
      }
      return text.substring(from, at);
    }

    private Form form(int depth) {
      if (depth > MAX_DEPTH) {
        throw wrong();
      }
      if (skip("list(")) {
        return new ListOf(element(depth));
      }
      if (skip("array(")) {
        return new ArrayOf(element(depth));
      }
      if (skip("optional(")) {
        return new OptionalOf(element(depth));
      }
      if (skip("enum[")) {
        return new EnumOf(constants());
      }
      if (skip("record ")) {
        return named(new RecordOf(word("("), parts(depth, true)));
      }
      if (skip("oneOf ")) {
        return named(new OneOf(word("("), parts(depth, false)));
      }
      if (skip("^")) {
        return new Known(word(";)"));
      }
      return new Leaf(word(";)"));
    }

    private Form named(Form form) {
      String name = form instanceof RecordOf record ? record.name() : ((OneOf) form).name();
      if (!isEmpty(form) && named.put(name, form) != null) {
        throw new IllegalArgumentException(name + " is described twice");
      }
      return form;
    }

    private Form element(int depth) {
      Form element = form(depth + 1);
      expect(")");
      return element;
    }

    private List<String> constants() {
      List<String> names = new ArrayList<>();
      while (!skip("]")) {
        if (!names.isEmpty()) {
          expect(", ");
        }
        names.add(word(",]"));
        bound(names);
      }
      return List.copyOf(names);
    }

    private List<Part> parts(int depth, boolean marks) {
      expect("(");
      List<Part> parts = new ArrayList<>();
      while (!skip(")")) {
        String name = word(" ;)");
        expect(" ");
        boolean varint = marks && skip("varint ");
        boolean nullable = marks && skip("nullable ");
        parts.add(new Part(name, varint, nullable, form(depth + 1)));
        bound(parts);
        expect(";");
      }
      return List.copyOf(parts);
    }

    private void bound(List<?> parts) {
      if (parts.size() > MAX_PARTS) {
        throw wrong();
      }
    }
  }
}
