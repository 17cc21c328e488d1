// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.codec;

import java.lang.reflect.Type;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Describes what a codec of {@link Codecs} writes, as parsed from another node's {@link FormText}.
 *
 * <pre>
 *   form    record NAME(component;...)      component: name [varint] [nullable] form
 *           oneOf NAME(NAME form;...)       the leaves of a sealed interface, in their order
 *           enum[NAME, ...]  list(form)  array(form)  optional(form)
 *           ^NAME                           the record or the interface that has that name here
 *           TYPE                            a primitive type, its box, String, UUID, an array
 * </pre>
 *
 * <p>A record that is encoded in no bytes cannot be referred to by its name. Otherwise a few
 * records that refer to each other twice could describe more records than can be read, in a message
 * of no bytes.
 */
sealed interface Form {
  /** The longest text that is parsed, in characters. */
  int MAX_CHARS = 4096;

  /** The maximum nesting of forms. */
  int MAX_DEPTH = 64;

  /** The maximum number of components, constants or leaves of a form. */
  int MAX_PARTS = 256;

  /** Encoded by one call of {@link io.talaria.messaging.MessageWriter}. */
  record Leaf(String type) implements Form {}

  /** Encoded as a length and the elements. */
  record ListOf(Form element) implements Form {}

  /** Encoded as a length and the elements. */
  record ArrayOf(Form element) implements Form {}

  /** Encoded as a boolean, whether there is an element, and the element. */
  record OptionalOf(Form element) implements Form {}

  /** Encoded as the number of the constant. */
  record EnumOf(List<String> constants) implements Form {}

  /** Encoded as its components, one after the other. */
  record RecordOf(String name, List<Part> components) implements Form {}

  /** Encoded as the number of the leaf, and the leaf. */
  record OneOf(String name, List<Part> leaves) implements Form {}

  /** A reference to a record or interface that is described elsewhere in the text. */
  record Known(String name) implements Form {}

  /** A component of a record, or a leaf of a sealed interface. */
  record Part(String name, boolean varint, boolean nullable, Form form) {}

  /**
   * A parsed text.
   *
   * @param form the outermost form
   * @param named the records and interfaces in it, by their names
   */
  record Whole(Form form, Map<String, Form> named) {
    /**
     * Resolves a reference.
     *
     * @throws IllegalArgumentException if the text describes nothing of that name
     */
    Form of(Known known) {
      Form form = named.get(known.name());
      if (form == null) {
        throw new IllegalArgumentException("^" + known.name() + " is in no such form");
      }
      return form;
    }
  }

  /** Whether a value of this form is encoded in no bytes. */
  static boolean isEmpty(Form form) {
    return form instanceof RecordOf record
        && record.components().stream().noneMatch(each -> each.nullable() || !isEmpty(each.form()));
  }

  /**
   * Refuses elements without bytes. {@link io.talaria.messaging.MessageReader#getLength} bounds a
   * length by at least one byte an element, so that a short message cannot make the reader allocate
   * much.
   */
  static Form ofElements(Form element) {
    if (isEmpty(element)) {
      throw new IllegalArgumentException("a list or array of " + element + ", which has no bytes");
    }
    return element;
  }

  /** The exception for a component of another type than the other node's. */
  static IllegalArgumentException differs(String where, Type own, Form theirs) {
    String name =
        switch (theirs) {
          case Leaf leaf -> leaf.type();
          case ListOf unused -> "list";
          case ArrayOf unused -> "array";
          case OptionalOf unused -> "optional";
          case EnumOf unused -> "enum";
          case RecordOf record -> "record " + record.name();
          case OneOf oneOf -> "sealed interface " + oneOf.name();
          case Known known -> known.name();
        };
    return new IllegalArgumentException(
        where + " is a " + own.getTypeName() + " here, and a " + name + " there");
  }

  /**
   * Parses a text.
   *
   * @throws IllegalArgumentException if the text is not a form, or exceeds a limit
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

  /** A recursive-descent parser with its position in the text. */
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

    /** Reads up to the first of these characters, which remains unread. */
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
