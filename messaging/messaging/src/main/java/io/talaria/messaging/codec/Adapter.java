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
import java.util.Set;

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
  /** Reads one value that the other node has written. */
  private interface Reader {
    Object read(MessageReader in);
  }

  /** Stands for a reader that is being made, so that a type may contain itself. */
  private static final class Later implements Reader {
    private Reader reader;

    @Override
    public Object read(MessageReader in) {
      return reader.read(in);
    }
  }

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

  private final MethodHandles.Lookup lookup;
  private final Form.Whole theirs;

  /** The readers made or being made, by own type and then by the other node's form. */
  private final Map<Type, IdentityHashMap<Form, Later>> begun = new HashMap<>();

  private final IdentityHashMap<Form, Later> skipping = new IdentityHashMap<>();

  private Adapter(MethodHandles.Lookup lookup, Form.Whole theirs) {
    this.lookup = lookup;
    this.theirs = theirs;
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
    Reader reader = new Adapter(lookup, whole).element(type, whole.form(), type.getName());
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

  private static IllegalArgumentException differs(String where, Type own, Form theirs) {
    String name =
        switch (theirs) {
          case Form.Leaf leaf -> leaf.type();
          case Form.ListOf unused -> "list";
          case Form.ArrayOf unused -> "array";
          case Form.OptionalOf unused -> "optional";
          case Form.EnumOf unused -> "enum";
          case Form.RecordOf record -> "record " + record.name();
          case Form.OneOf oneOf -> "sealed interface " + oneOf.name();
          case Form.Known known -> known.name();
        };
    return new IllegalArgumentException(
        where + " is a " + own.getTypeName() + " here, and a " + name + " there");
  }

  private Reader element(Type own, Form form, String where) {
    if (form instanceof Form.Known known) {
      return element(own, theirs.of(known), where);
    }
    if (own instanceof ParameterizedType parameterized) {
      Type argument = parameterized.getActualTypeArguments()[0];
      if (parameterized.getRawType() == List.class && form instanceof Form.ListOf list) {
        Reader element = element(argument, ofElements(list.element()), where);
        return in -> List.of(elements(in, element));
      }
      if (parameterized.getRawType() == Optional.class && form instanceof Form.OptionalOf some) {
        Reader element = element(argument, some.element(), where);
        return in -> in.getBoolean() ? Optional.of(element.read(in)) : Optional.empty();
      }
      throw differs(where, own, form);
    }
    Class<?> type = (Class<?>) own;
    return switch (form) {
      case Form.Leaf leaf -> leaf(type, leaf, false, where);
      case Form.ArrayOf array when type.isArray() && !type.componentType().isPrimitive() -> {
        Class<?> component = type.componentType();
        Reader element = element(component, ofElements(array.element()), where);
        yield in -> {
          Object[] read = elements(in, element);
          return Arrays.copyOf(read, read.length, arrayType(component));
        };
      }
      case Form.EnumOf constants when type.isEnum() -> constants(type, constants);
      case Form.RecordOf record when type.isRecord() ->
          once(type, record, () -> components(type, record));
      case Form.OneOf oneOf when type.isSealed() && type.isInterface() ->
          once(type, oneOf, () -> leaves(type, oneOf, where));
      default -> throw differs(where, own, form);
    };
  }

  @SuppressWarnings("unchecked")
  private static Class<Object[]> arrayType(Class<?> component) {
    return (Class<Object[]>) Array.newInstance(component, 0).getClass();
  }

  /**
   * Refuses elements without bytes. {@link MessageReader#getLength} bounds a length by at least one
   * byte an element, so that a short message cannot make the reader allocate much.
   */
  private static Form ofElements(Form element) {
    if (Form.isEmpty(element)) {
      throw new IllegalArgumentException("a list or array of " + element + ", which has no bytes");
    }
    return element;
  }

  private static Object[] elements(MessageReader in, Reader element) {
    Object[] elements = new Object[in.getLength(1)];
    in.enter();
    for (int i = 0; i < elements.length; i++) {
      elements[i] = element.read(in);
    }
    in.leave();
    return elements;
  }

  private interface Maker {
    Reader make();
  }

  /** Makes the reader of a type and form only once, because the type may contain itself. */
  private Reader once(Class<?> type, Form form, Maker maker) {
    IdentityHashMap<Form, Later> forms =
        begun.computeIfAbsent(type, each -> new IdentityHashMap<>());
    Later known = forms.get(form);
    if (known == null) {
      Later made = new Later();
      forms.put(form, made);
      made.reader = maker.make();
      known = made;
    }
    Later reader = known;
    return in -> {
      in.enter();
      Object value = reader.read(in);
      in.leave();
      return value;
    };
  }

  // ---- numbers and strings

  private static Reader leaf(Class<?> own, Form.Leaf leaf, boolean varint, String where) {
    Class<?> from = primitive(leaf.type());
    if (from == null) {
      Codecs.Simple simple = Codecs.Simple.of(own);
      if (simple == null || !simple.form().equals(leaf.type())) {
        throw differs(where, own, leaf);
      }
      return simple::read;
    }
    Class<?> to = own.isPrimitive() ? own : PRIMITIVES.get(own);
    if (to == null || (to != from && !WIDER.getOrDefault(from, Set.of()).contains(to))) {
      throw differs(where, own, leaf);
    }
    Reader reader = primitive(from, varint);
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

  private static Reader primitive(Class<?> type, boolean varint) {
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

  // ---- enums, records and sealed interfaces

  private static Reader constants(Class<?> type, Form.EnumOf form) {
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

  private Reader leaves(Class<?> type, Form.OneOf form, String where) {
    List<Class<?>> own = Codecs.leaves(type);
    List<Reader> byNumber = new ArrayList<>();
    for (Form.Part leaf : form.leaves()) {
      List<Class<?>> same =
          own.stream().filter(each -> each.getSimpleName().equals(leaf.name())).toList();
      byNumber.add(same.size() == 1 ? element(same.getFirst(), leaf.form(), where) : null);
    }
    return in -> {
      int number = in.getVarUnsigned();
      if (number < 0 || number >= byNumber.size()) {
        throw new MalformedMessageException(type.getName() + " has no subtype number " + number);
      }
      Reader reader = byNumber.get(number);
      if (reader == null) {
        throw new MalformedMessageException(
            type.getName() + " has no one subtype " + form.leaves().get(number).name() + " here");
      }
      return reader.read(in);
    };
  }

  private Reader components(Class<?> type, Form.RecordOf form) {
    RecordComponent[] own = type.getRecordComponents();
    Reader[] readers = new Reader[form.components().size()];
    int[] places = new int[readers.length];
    boolean[] given = new boolean[own.length];
    for (int i = 0; i < readers.length; i++) {
      Form.Part there = form.components().get(i);
      places[i] = place(own, there.name());
      if (places[i] < 0) {
        readers[i] = skipped(there);
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

  private Reader component(Class<?> type, RecordComponent own, Form.Part there) {
    String where = "component " + own.getName() + " of " + type.getName();
    if (there.varint()) {
      return leaf(own.getType(), new Form.Leaf(varint(there).getName()), true, where);
    }
    Reader reader = element(own.getGenericType(), there.form(), where);
    if (!there.nullable()) {
      return reader;
    }
    if (!own.isAnnotationPresent(OptionalField.class)) {
      throw new IllegalArgumentException(where + " may be null there, and not here");
    }
    return orNull(reader);
  }

  private static Reader orNull(Reader reader) {
    return in -> in.getBoolean() ? reader.read(in) : null;
  }

  private static Class<?> varint(Form.Part part) {
    Class<?> type = part.form() instanceof Form.Leaf leaf ? primitive(leaf.type()) : null;
    if (part.nullable() || (type != int.class && type != long.class)) {
      throw new IllegalArgumentException(
          "component " + part.name() + " cannot be varint: " + part.form());
    }
    return type;
  }

  private static Object defaultOf(Class<?> type, RecordComponent own) {
    Class<?> raw = own.getType();
    if (own.isAnnotationPresent(OptionalField.class)) {
      return null;
    }
    Class<?> primitive = raw.isPrimitive() ? raw : PRIMITIVES.get(raw);
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

  // ---- components that only the other node has

  private Reader skipped(Form.Part part) {
    if (part.varint()) {
      return primitive(varint(part), true);
    }
    Reader there = skipped(part.form());
    return part.nullable() ? orNull(there) : there;
  }

  /** Makes a reader that discards what it reads. */
  private Reader skipped(Form form) {
    return switch (form) {
      case Form.Leaf leaf -> skippedLeaf(leaf);
      case Form.ListOf list -> skippedElements(list.element());
      case Form.ArrayOf array -> skippedElements(array.element());
      case Form.OptionalOf some -> orNull(skipped(some.element()));
      case Form.EnumOf unused -> MessageReader::getVarUnsigned;
      case Form.Known known -> skipped(theirs.of(known));
      case Form.RecordOf record -> skippedOnce(record, () -> skippedComponents(record));
      case Form.OneOf oneOf -> skippedOnce(oneOf, () -> skippedLeaves(oneOf));
    };
  }

  private Reader skippedComponents(Form.RecordOf record) {
    Reader[] parts = record.components().stream().map(this::skipped).toArray(Reader[]::new);
    return in -> {
      for (Reader each : parts) {
        each.read(in);
      }
      return null;
    };
  }

  private Reader skippedLeaves(Form.OneOf oneOf) {
    Reader[] parts = oneOf.leaves().stream().map(this::skipped).toArray(Reader[]::new);
    return in -> {
      int number = in.getVarUnsigned();
      if (number < 0 || number >= parts.length) {
        throw new MalformedMessageException(oneOf.name() + " has no subtype number " + number);
      }
      return parts[number].read(in);
    };
  }

  private static Reader skippedLeaf(Form.Leaf leaf) {
    Class<?> primitive = primitive(leaf.type());
    if (primitive != null) {
      return primitive(primitive, false);
    }
    for (Codecs.Simple each : Codecs.Simple.values()) {
      if (each.form().equals(leaf.type())) {
        return each::read;
      }
    }
    throw new IllegalArgumentException(leaf.type() + " is no type that is known here");
  }

  private Reader skippedElements(Form form) {
    Reader element = skipped(ofElements(form));
    return in -> {
      int length = in.getLength(1);
      in.enter();
      for (int i = 0; i < length; i++) {
        element.read(in);
      }
      in.leave();
      return null;
    };
  }

  private Reader skippedOnce(Form form, Maker maker) {
    Later known = skipping.get(form);
    if (known == null) {
      Later made = new Later();
      skipping.put(form, made);
      made.reader = maker.make();
      known = made;
    }
    Later reader = known;
    return in -> {
      in.enter();
      reader.read(in);
      in.leave();
      return null;
    };
  }
}
