// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.codec;

import java.lang.classfile.TypeKind;
import java.util.Locale;

/** A component of a primitive type, with the names of the methods that write and read it. */
record Primitive(Class<?> type, boolean varint, String put, String get, int bytes) {
  static Primitive of(Class<?> type, boolean varint) {
    if (!type.isPrimitive()) {
      return null;
    }
    String name = type.getName();
    String method =
        (varint ? "Var" : "") + name.substring(0, 1).toUpperCase(Locale.ROOT) + name.substring(1);
    int bytes =
        switch (TypeKind.from(type)) {
          case BOOLEAN, BYTE -> 1;
          case SHORT, CHAR -> 2;
          case INT, FLOAT -> 4;
          default -> 8;
        };
    return new Primitive(type, varint, "put" + method, "get" + method, bytes);
  }

  /** The method of MessageWriter that returns the size of a varint. */
  String sizeOf() {
    return type == int.class ? "sizeOfVarInt" : "sizeOfVarLong";
  }
}
