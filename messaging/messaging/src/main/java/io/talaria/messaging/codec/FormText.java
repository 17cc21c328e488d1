// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.codec;

import io.talaria.messaging.OptionalField;
import io.talaria.messaging.Varint;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Writes the text that tells other nodes how a record is encoded: see {@link Form}. A record or a
 * sealed interface is described at its first occurrence, and referred to by its name after that. So
 * the text does not depend on what else was registered, and does not grow with the number of uses.
 */
final class FormText {
  private final StringBuilder text = new StringBuilder();
  private final Map<Class<?>, String> names = new HashMap<>();
  private final Set<String> taken = new HashSet<>();

  private FormText() {}

  /** Returns the text for a type that has a codec of {@link Codecs}. */
  static String of(Class<?> type) {
    FormText form = new FormText();
    form.write(type);
    return form.text.toString();
  }

  private void write(Type type) {
    if (type instanceof ParameterizedType parameterized) {
      text.append(parameterized.getRawType() == List.class ? "list(" : "optional(");
      write(parameterized.getActualTypeArguments()[0]);
      text.append(')');
      return;
    }
    Class<?> raw = (Class<?>) type;
    SimpleCodec simple = SimpleCodec.of(raw);
    if (simple != null) {
      text.append(simple.form());
    } else if (raw.isPrimitive()) {
      text.append(raw.getName());
    } else if (raw.isArray()) {
      text.append("array(");
      write(raw.getComponentType());
      text.append(')');
    } else if (raw.isEnum()) {
      // name(), because the program may override toString().
      text.append("enum")
          .append(
              Arrays.stream(raw.getEnumConstants()).map(each -> ((Enum<?>) each).name()).toList());
    } else {
      writeNamed(raw);
    }
  }

  private void writeNamed(Class<?> type) {
    String known = names.get(type);
    if (known != null) {
      text.append('^').append(known);
      return;
    }
    String simple = type.getSimpleName();
    if (type.isRecord() && type.getRecordComponents().length == 0) {
      text.append("record ").append(simple).append("()"); // not longer than a reference to it
      return;
    }
    String name = simple;
    for (int i = 2; !taken.add(name); i++) {
      name = simple + '~' + i; // another class has this simple name
    }
    names.put(type, name);
    text.append(type.isRecord() ? "record " : "oneOf ").append(name).append('(');
    if (type.isRecord()) {
      writeComponents(type);
    } else {
      for (Class<?> leaf : Codecs.leaves(type)) {
        text.append(leaf.getSimpleName()).append(' ');
        write(leaf);
        text.append(';');
      }
    }
    text.append(')');
  }

  private void writeComponents(Class<?> type) {
    for (RecordComponent component : type.getRecordComponents()) {
      text.append(component.getName())
          .append(component.isAnnotationPresent(Varint.class) ? " varint " : " ")
          .append(component.isAnnotationPresent(OptionalField.class) ? "nullable " : "");
      write(component.getGenericType());
      text.append(';');
    }
  }
}
