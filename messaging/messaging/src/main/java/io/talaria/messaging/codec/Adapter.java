// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.codec;

import io.talaria.messaging.Codec;
import io.talaria.messaging.MalformedMessageException;
import io.talaria.messaging.MessageReader;
import io.talaria.messaging.MessageWriter;
import io.talaria.messaging.OptionalField;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Array;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * Reads records of another node whose record of the same name has other components. Components are
 * found by their names. Those that only the other node has are skipped; those that only this node
 * has get a default value. A number may have a wider type here if no value is lost. Enum constants
 * and leaves of sealed interfaces are found by their names. No other difference is allowed. Reading
 * allocates more and takes longer than with a codec of {@link Codecs}.
 *
 * <p>Made by one thread; any number of threads may then read.
 */
public final class Adapter {
  private final MethodHandles.Lookup lookup;
  private final Form.Whole theirs;

  /** The readers made or being made, by own type and then by the other node's form. */
  private final Map<Type, IdentityHashMap<Form, ValueReader.Later>> begun = new HashMap<>();

  private final SkippingReaders skipping;

  private Adapter(MethodHandles.Lookup lookup, Form.Whole theirs) {
    this.lookup = lookup;
    this.theirs = theirs;
    skipping = new SkippingReaders(theirs);
  }

  /**
   * Makes a codec that can only read.
   *
   * @param type the own record
   * @param theirs the form that the other node has sent
   * @param lookup of the program, or null: as for {@link Codecs}
   * @throws IllegalArgumentException if the two do not fit; the message names the component
   */
  public static Codec<Object> of(Class<?> type, String theirs, MethodHandles.Lookup lookup) {
    Form.Whole whole = Form.of(theirs);
    ValueReader reader = new Adapter(lookup, whole).element(type, whole.form(), type.getName());
    return new Codec<>() {
      @Override
      public int size(Object value) {
        throw new UnsupportedOperationException("it reads only");
      }

      @Override
      public void write(Object value, MessageWriter out) {
        throw new UnsupportedOperationException("it reads only");
      }

      @Override
      public Object read(MessageReader in) {
        return reader.read(in);
      }
    };
  }

  private ValueReader element(Type own, Form form, String where) {
    if (form instanceof Form.Known known) {
      return element(own, theirs.of(known), where);
    }
    if (own instanceof ParameterizedType parameterized) {
      Type argument = parameterized.getActualTypeArguments()[0];
      if (parameterized.getRawType() == List.class && form instanceof Form.ListOf list) {
        ValueReader element = element(argument, Form.ofElements(list.element()), where);
        return in -> List.of(elements(in, element));
      }
      if (parameterized.getRawType() == Optional.class && form instanceof Form.OptionalOf some) {
        ValueReader element = element(argument, some.element(), where);
        return in -> in.getBoolean() ? Optional.of(element.read(in)) : Optional.empty();
      }
      throw Form.differs(where, own, form);
    }
    Class<?> type = (Class<?>) own;
    return switch (form) {
      case Form.Leaf leaf -> LeafReaders.of(type, leaf, false, where);
      case Form.ArrayOf array when type.isArray() && !type.componentType().isPrimitive() -> {
        Class<?> component = type.componentType();
        ValueReader element = element(component, Form.ofElements(array.element()), where);
        yield in -> {
          Object[] read = elements(in, element);
          return Arrays.copyOf(read, read.length, arrayType(component));
        };
      }
      case Form.EnumOf constants when type.isEnum() -> constants(type, constants);
      case Form.RecordOf record when type.isRecord() -> ValueReader.level(ofRecord(type, record));
      case Form.OneOf oneOf when type.isSealed() && type.isInterface() ->
          ValueReader.level(once(type, oneOf, () -> leaves(type, oneOf, where)));
      default -> throw Form.differs(where, own, form);
    };
  }

  @SuppressWarnings("unchecked")
  private static Class<Object[]> arrayType(Class<?> component) {
    return (Class<Object[]>) Array.newInstance(component, 0).getClass();
  }

  private static Object[] elements(MessageReader in, ValueReader element) {
    int size = in.getLength(1);
    in.enter();
    Object[] elements = new Object[Math.min(size, Codecs.FIRST_ELEMENTS)];
    for (int i = 0; i < size; i++) {
      if (i == elements.length) {
        elements = Codecs.larger(elements, size);
      }
      elements[i] = element.read(in);
    }
    in.leave();
    return elements;
  }

  private ValueReader once(Class<?> type, Form form, Supplier<ValueReader> maker) {
    return ValueReader.once(
        begun.computeIfAbsent(type, each -> new IdentityHashMap<>()), form, maker);
  }

  // ---- enums, records and sealed interfaces

  private static ValueReader constants(Class<?> type, Form.EnumOf form) {
    Object[] own = type.getEnumConstants();
    Object[] byNumber =
        form.constants().stream()
            .map(
                name ->
                    Arrays.stream(own)
                        .filter(each -> ((Enum<?>) each).name().equals(name))
                        .findFirst()
                        .orElse(null))
            .toArray();
    return in -> {
      int number = in.getVarUnsigned();
      if (number < 0 || number >= byNumber.length) {
        throw new MalformedMessageException(type.getName() + " has no constant number " + number);
      }
      if (byNumber[number] == null) {
        throw new MalformedMessageException(
            type.getName() + " has no constant " + form.constants().get(number) + " here");
      }
      return byNumber[number];
    };
  }

  private ValueReader leaves(Class<?> type, Form.OneOf form, String where) {
    List<Class<?>> own = Codecs.leaves(type);
    List<ValueReader> byNumber = new ArrayList<>();
    for (Form.Part leaf : form.leaves()) {
      List<Class<?>> same =
          own.stream().filter(each -> each.getSimpleName().equals(leaf.name())).toList();
      byNumber.add(same.size() == 1 ? leaf(same.getFirst(), leaf.form(), where) : null);
    }
    return in -> {
      int number = in.getVarUnsigned();
      if (number < 0 || number >= byNumber.size()) {
        throw new MalformedMessageException(type.getName() + " has no subtype number " + number);
      }
      ValueReader reader = byNumber.get(number);
      if (reader == null) {
        throw new MalformedMessageException(
            type.getName() + " has no one subtype " + form.leaves().get(number).name() + " here");
      }
      return reader.read(in);
    };
  }

  /** A leaf that is a record is of one level with its interface, as for {@link Codecs}. */
  private ValueReader leaf(Class<?> type, Form form, String where) {
    Form there = form instanceof Form.Known known ? theirs.of(known) : form;
    return type.isRecord() && there instanceof Form.RecordOf record
        ? ofRecord(type, record)
        : element(type, there, where);
  }

  private ValueReader ofRecord(Class<?> type, Form.RecordOf form) {
    return once(type, form, () -> components(type, form));
  }

  private ValueReader components(Class<?> type, Form.RecordOf form) {
    RecordComponent[] own = type.getRecordComponents();
    ValueReader[] readers = new ValueReader[form.components().size()];
    int[] places = new int[readers.length];
    boolean[] given = new boolean[own.length];
    for (int i = 0; i < readers.length; i++) {
      Form.Part there = form.components().get(i);
      places[i] = place(own, there.name());
      if (places[i] < 0) {
        readers[i] = skipping.of(there);
      } else if (given[places[i]]) {
        throw new IllegalArgumentException(
            "component " + there.name() + " of " + type.getName() + " is there twice");
      } else {
        given[places[i]] = true;
        readers[i] = component(type, own[places[i]], there);
      }
    }
    Object[] defaults = new Object[own.length];
    for (int i = 0; i < own.length; i++) {
      defaults[i] = given[i] ? null : defaultOf(type, own[i]);
    }
    MethodHandle constructor = constructor(type, own);
    return in -> {
      Object[] values = defaults.clone();
      for (int i = 0; i < readers.length; i++) {
        Object value = readers[i].read(in);
        if (places[i] >= 0) {
          values[places[i]] = value;
        }
      }
      return construct(constructor, values);
    };
  }

  private static int place(RecordComponent[] own, String name) {
    for (int i = 0; i < own.length; i++) {
      if (own[i].getName().equals(name)) {
        return i;
      }
    }
    return -1;
  }

  private ValueReader component(Class<?> type, RecordComponent own, Form.Part there) {
    String where = "component " + own.getName() + " of " + type.getName();
    if (there.varint()) {
      return LeafReaders.of(
          own.getType(), new Form.Leaf(LeafReaders.varint(there).getName()), true, where);
    }
    ValueReader reader = element(own.getGenericType(), there.form(), where);
    if (!there.nullable()) {
      return reader;
    }
    if (!own.isAnnotationPresent(OptionalField.class)) {
      throw new IllegalArgumentException(where + " may be null there, and not here");
    }
    return ValueReader.orNull(reader);
  }

  private static Object defaultOf(Class<?> type, RecordComponent own) {
    Class<?> raw = own.getType();
    if (own.isAnnotationPresent(OptionalField.class)) {
      return null;
    }
    Class<?> primitive = LeafReaders.unboxed(raw);
    if (primitive != null) {
      return Array.get(Array.newInstance(primitive, 1), 0);
    }
    if (raw == String.class) {
      return "";
    }
    if (raw == List.class) {
      return List.of();
    }
    if (raw == Optional.class) {
      return Optional.empty();
    }
    if (raw.isArray()) {
      return Array.newInstance(raw.componentType(), 0);
    }
    throw new IllegalArgumentException(
        "component "
            + own.getName()
            + " of "
            + type.getName()
            + " is not there, and a "
            + raw.getSimpleName()
            + " has no default: declare it @OptionalField or Optional");
  }

  private MethodHandle constructor(Class<?> type, RecordComponent[] own) {
    Class<?>[] parameters =
        Arrays.stream(own).map(RecordComponent::getType).toArray(Class<?>[]::new);
    try {
      MethodHandles.Lookup nest =
          MethodHandles.privateLookupIn(type, lookup == null ? MethodHandles.lookup() : lookup);
      return nest.findConstructor(type, MethodType.methodType(void.class, parameters))
          .asSpreader(Object[].class, parameters.length)
          .asType(MethodType.methodType(Object.class, Object[].class));
    } catch (ReflectiveOperationException e) {
      throw new IllegalArgumentException(type.getName() + " cannot be made: " + e, e);
    }
  }

  private static Object construct(MethodHandle constructor, Object[] values) {
    try {
      return constructor.invokeExact(values);
    } catch (RuntimeException | Error e) {
      throw e;
    } catch (Throwable e) {
      throw new MalformedMessageException("its constructor has thrown " + e);
    }
  }
}
