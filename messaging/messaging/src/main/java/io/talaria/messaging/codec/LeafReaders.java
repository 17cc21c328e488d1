// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.codec;

import io.talaria.messaging.MessageReader;
import java.util.Map;
import java.util.Set;

/** Makes the readers of numbers, strings and arrays of primitive types. */
final class LeafReaders {
  private static final Map<Class<?>, Class<?>> PRIMITIVES =
      Map.of(
          Boolean.class, boolean.class,
          Byte.class, byte.class,
          Short.class, short.class,
          Character.class, char.class,
          Integer.class, int.class,
          Long.class, long.class,
          Float.class, float.class,
          Double.class, double.class);

  /** For each primitive type, the types that can represent all its values. */
  private static final Map<Class<?>, Set<Class<?>>> WIDER =
      Map.of(
          byte.class, Set.of(short.class, int.class, long.class, float.class, double.class),
          short.class, Set.of(int.class, long.class, float.class, double.class),
          char.class, Set.of(int.class, long.class, float.class, double.class),
          int.class, Set.of(long.class, double.class),
          float.class, Set.of(double.class));

  private LeafReaders() {}

  /**
   * Makes a reader that widens.
   *
   * @param own the type here
   * @param leaf the type that the other node has written
   * @param varint whether it has written it as a varint
   * @param where names the component, for an error text
   * @throws IllegalArgumentException if the type here cannot represent all values of that one
   */
  static ValueReader of(Class<?> own, Form.Leaf leaf, boolean varint, String where) {
    Class<?> from = primitive(leaf.type());
    if (from == null) {
      SimpleCodec simple = SimpleCodec.of(own);
      if (simple == null || !simple.form().equals(leaf.type())) {
        throw Form.differs(where, own, leaf);
      }
      return simple::read;
    }
    Class<?> to = unboxed(own);
    if (to == null || (to != from && !WIDER.getOrDefault(from, Set.of()).contains(to))) {
      throw Form.differs(where, own, leaf);
    }
    ValueReader reader = ofPrimitive(from, varint);
    return to == from ? reader : in -> widened(reader.read(in), to);
  }

  /** The primitive type with this name, or whose box has it; null if there is none. */
  private static Class<?> primitive(String name) {
    for (Map.Entry<Class<?>, Class<?>> each : PRIMITIVES.entrySet()) {
      if (each.getKey().getSimpleName().equals(name) || each.getValue().getName().equals(name)) {
        return each.getValue();
      }
    }
    return null;
  }

  private static ValueReader ofPrimitive(Class<?> type, boolean varint) {
    if (type == int.class) {
      return varint ? MessageReader::getVarInt : MessageReader::getInt;
    }
    if (type == long.class) {
      return varint ? MessageReader::getVarLong : MessageReader::getLong;
    }
    if (type == boolean.class) {
      return MessageReader::getBoolean;
    }
    if (type == byte.class) {
      return MessageReader::getByte;
    }
    if (type == short.class) {
      return MessageReader::getShort;
    }
    if (type == char.class) {
      return MessageReader::getChar;
    }
    return type == float.class ? MessageReader::getFloat : MessageReader::getDouble;
  }

  private static Object widened(Object value, Class<?> to) {
    if (value instanceof Character character) {
      return widened((int) character.charValue(), to);
    }
    Number number = (Number) value;
    if (to == short.class) {
      return number.shortValue();
    }
    if (to == int.class) {
      return number.intValue();
    }
    if (to == long.class) {
      return number.longValue();
    }
    if (to == float.class) {
      return number.floatValue();
    }
    return number.doubleValue();
  }

  /** Makes a reader of what the other node has written as a varint, and nobody wants here. */
  static ValueReader skippingVarint(Form.Part part) {
    return ofPrimitive(varint(part), true);
  }

  /** Makes a reader of what nobody wants here. */
  static ValueReader skipping(Form.Leaf leaf) {
    Class<?> primitive = primitive(leaf.type());
    if (primitive != null) {
      return ofPrimitive(primitive, false);
    }
    for (SimpleCodec each : SimpleCodec.values()) {
      if (each.form().equals(leaf.type())) {
        return each::read;
      }
    }
    throw new IllegalArgumentException(leaf.type() + " is no type that is known here");
  }

  /** The type of a component that the other node writes as a varint. */
  static Class<?> varint(Form.Part part) {
    Class<?> type = part.form() instanceof Form.Leaf leaf ? primitive(leaf.type()) : null;
    if (part.nullable() || (type != int.class && type != long.class)) {
      throw new IllegalArgumentException(
          "component " + part.name() + " cannot be varint: " + part.form());
    }
    return type;
  }

  /** The primitive type that a type is or has as its box; null if there is none. */
  static Class<?> unboxed(Class<?> type) {
    return type.isPrimitive() ? type : PRIMITIVES.get(type);
  }
}
