// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.codec;

import io.talaria.messaging.Codec;
import io.talaria.messaging.MalformedMessageException;
import io.talaria.messaging.MessageReader;
import io.talaria.messaging.MessageWriter;
import io.talaria.messaging.OptionalField;
import io.talaria.messaging.Varint;
import java.lang.invoke.MethodHandles;
import java.lang.reflect.Array;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.RandomAccess;
import java.util.Set;

/**
 * Generates the codecs of records and of their components: primitive types and their boxes,
 * strings, UUIDs, enums, records, sealed interfaces of records and enums, arrays, lists and
 * optionals of all these. A {@link #form} describes what a codec writes. If both nodes have the
 * same form, the codec reads what the other node writes; otherwise {@link #adapted} may.
 *
 * <p>For one thread, at registration.
 */
public final class Codecs {
  /**
   * A list or an array first gets memory for at most so many elements, and for more when these were
   * read: its length alone, which may be wrong on each of many levels, must not take much.
   */
  static final int FIRST_ELEMENTS = 1024;

  private static final int GROWTH_SHIFT = 2;

  private final MethodHandles.Lookup lookup;
  private final Map<Type, Codec<Object>> made = new HashMap<>();

  /** Records whose codecs are being made, to detect a record that contains itself. */
  private final Map<Class<?>, Later> making = new HashMap<>();

  /** Records that are encoded in no bytes. */
  private final Set<Type> empty = new HashSet<>();

  /**
   * Creates a factory of codecs.
   *
   * @param lookup of the program, with full access to its records, or null: then only records that
   *     this module can access are possible
   */
  public Codecs(MethodHandles.Lookup lookup) {
    this.lookup = lookup;
  }

  /** Stands for a codec that is not made yet, because its record contains itself. */
  private static final class Later implements Codec<Object> {
    private Codec<Object> codec;

    @Override
    public int size(Object value) {
      return codec.size(value);
    }

    @Override
    public void write(Object value, MessageWriter out) {
      codec.write(value, out);
    }

    @Override
    public Object read(MessageReader in) {
      in.enter();
      Object value = codec.read(in);
      in.leave();
      return value;
    }
  }

  /**
   * Returns the codec of a record.
   *
   * @throws IllegalArgumentException if it cannot be made; the message names type and component
   */
  @SuppressWarnings("unchecked")
  public <T> Codec<T> ofRecord(Class<T> type) {
    if (!type.isRecord()) {
      throw new IllegalArgumentException(
          type.getName() + " is not a record: register it with a Codec");
    }
    return (Codec<T>) of(type, type.getName());
  }

  /**
   * Returns a codec that reads what another node writes whose record has other components.
   *
   * @param type the own record
   * @param form what the other node has sent
   * @throws IllegalArgumentException if the two do not fit; the message names the component
   */
  public Codec<Object> adapted(Class<?> type, String form) {
    return Adapter.of(type, form, lookup);
  }

  /**
   * Describes how a record is encoded. Two nodes with the same form can read each other's records.
   *
   * @param type whose codec was made
   */
  public String form(Class<?> type) {
    return FormText.of(type);
  }

  private Codec<Object> of(Type type, String where) {
    Codec<Object> known = made.get(type);
    if (known != null) {
      return known;
    }
    Codec<Object> codec = make(type, where);
    made.put(type, codec);
    return codec;
  }

  private Codec<Object> make(Type type, String where) {
    if (type instanceof Class<?> raw) {
      return makeOf(raw, where);
    }
    if (type instanceof ParameterizedType parameterized) {
      Type argument = parameterized.getActualTypeArguments()[0];
      Type raw = parameterized.getRawType();
      if (raw == List.class) {
        return new ListCodec(ofElements(argument, where));
      }
      if (raw == Optional.class) {
        return new OptionalCodec(of(argument, where));
      }
    }
    throw unsupported(where, type);
  }

  /**
   * The codec of the elements of a list or an array. Refuses elements without bytes, as {@link
   * Form#ofElements} does, because the reader would.
   */
  private Codec<Object> ofElements(Type element, String where) {
    Codec<Object> codec = of(element, where);
    if (empty.contains(element)) {
      throw new IllegalArgumentException(
          where + " is a list or array of " + element.getTypeName() + ", which has no bytes");
    }
    return codec;
  }

  private static IllegalArgumentException unsupported(String where, Type type) {
    return new IllegalArgumentException(
        where
            + " has the type "
            + type.getTypeName()
            + ", which has no codec: possible are primitive types and their boxes, String, UUID,"
            + " enums, records, sealed interfaces of records and enums, and arrays, List and"
            + " Optional of these; or register a Codec for the message");
  }

  private Codec<Object> makeOf(Class<?> type, String where) {
    SimpleCodec simple = SimpleCodec.of(type);
    if (simple != null) {
      return simple;
    }
    if (type.isEnum()) {
      return new EnumCodec(type, type.getEnumConstants());
    }
    if (type.isRecord()) {
      return makeRecord(type);
    }
    if (type.isArray()) {
      return new ArrayCodec(type.getComponentType(), ofElements(type.getComponentType(), where));
    }
    if (type.isSealed() && type.isInterface()) {
      return makeSealed(type, where);
    }
    throw unsupported(where, type);
  }

  private Codec<Object> makeSealed(Class<?> type, String where) {
    Later later = new Later();
    made.put(type, later);
    List<Class<?>> leaves = leaves(type);
    List<Codec<Object>> codecs = new ArrayList<>();
    for (Class<?> leaf : leaves) {
      codecs.add(of(leaf, where));
    }
    later.codec = new SealedCodec(type, leaves.toArray(Class[]::new), codecs);
    return later;
  }

  /** The records and enums that implement a sealed interface, in the order of their numbers. */
  static List<Class<?>> leaves(Class<?> type) {
    Set<Class<?>> leaves = new HashSet<>();
    collect(type, leaves);
    List<Class<?>> sorted = new ArrayList<>(leaves);
    sorted.sort(Comparator.comparing(Class::getName));
    return sorted;
  }

  private static void collect(Class<?> type, Set<Class<?>> leaves) {
    if (type.isSealed() && type.isInterface()) {
      for (Class<?> permitted : type.getPermittedSubclasses()) {
        collect(permitted, leaves);
      }
    } else {
      leaves.add(type);
    }
  }

  private Codec<Object> makeRecord(Class<?> type) {
    Later inside = making.get(type);
    if (inside != null) {
      return inside;
    }
    Later later = new Later();
    making.put(type, later);
    List<Component> components = new ArrayList<>();
    for (RecordComponent component : type.getRecordComponents()) {
      String where = "component " + component.getName() + " of " + type.getName();
      boolean varint = component.isAnnotationPresent(Varint.class);
      boolean nullable = component.isAnnotationPresent(OptionalField.class);
      Class<?> raw = component.getType();
      if (varint && raw != int.class && raw != long.class) {
        throw new IllegalArgumentException(
            where + " is @Varint, which is for int and long, but a " + raw.getName());
      }
      if (nullable && raw.isPrimitive()) {
        throw new IllegalArgumentException(where + " is @OptionalField, but a " + raw.getName());
      }
      Primitive primitive = Primitive.of(raw, varint);
      Codec<Object> codec = null;
      if (primitive == null) {
        codec = of(component.getGenericType(), where);
        codec = nullable ? new NullableCodec(codec) : codec;
      }
      components.add(new Component(component, primitive, codec, nullable));
    }
    Codec<Object> codec = RecordClass.make(type, components, lookup);
    making.remove(type);
    // No record that is still being made is one of them: a value that contains another one of its
    // own type, with no byte that says whether it does, would have no end.
    if (components.stream()
        .allMatch(each -> !each.nullable() && empty.contains(each.component().getType()))) {
      empty.add(type);
    }
    later.codec = codec;
    return codec;
  }

  /** A component of a record: either a primitive one, or one with a codec. */
  record Component(
      RecordComponent component, Primitive primitive, Codec<Object> codec, boolean nullable) {}

  /**
   * The codec of a list. Uses indexes for a {@link RandomAccess} list, so that it allocates no
   * iterator.
   */
  private record ListCodec(Codec<Object> element) implements Codec<Object> {
    @Override
    public int size(Object value) {
      List<?> list = (List<?>) value;
      int size = list.size();
      int bytes = MessageWriter.sizeOfLength(size);
      Iterator<?> elements = list instanceof RandomAccess ? null : list.iterator();
      for (int i = 0; i < size; i++) {
        Object each = elements == null ? list.get(i) : elements.next();
        bytes = Math.addExact(bytes, element.size(notNull(each, i)));
      }
      return bytes;
    }

    @Override
    public void write(Object value, MessageWriter out) {
      List<?> list = (List<?>) value;
      int size = list.size();
      out.putLength(size);
      Iterator<?> elements = list instanceof RandomAccess ? null : list.iterator();
      for (int i = 0; i < size; i++) {
        element.write(elements == null ? list.get(i) : elements.next(), out);
      }
    }

    @Override
    public Object read(MessageReader in) {
      int size = in.getLength(1);
      in.enter();
      Object[] elements = new Object[Math.min(size, FIRST_ELEMENTS)];
      for (int i = 0; i < size; i++) {
        if (i == elements.length) {
          elements = larger(elements, size);
        }
        elements[i] = element.read(in);
      }
      in.leave();
      return List.of(elements);
    }
  }

  private record ArrayCodec(Class<?> type, Codec<Object> element) implements Codec<Object> {
    @Override
    public int size(Object value) {
      Object[] array = (Object[]) value;
      int bytes = MessageWriter.sizeOfLength(array.length);
      for (int i = 0; i < array.length; i++) {
        bytes = Math.addExact(bytes, element.size(notNull(array[i], i)));
      }
      return bytes;
    }

    @Override
    public void write(Object value, MessageWriter out) {
      Object[] array = (Object[]) value;
      out.putLength(array.length);
      for (Object each : array) {
        element.write(each, out);
      }
    }

    @Override
    public Object read(MessageReader in) {
      int size = in.getLength(1);
      in.enter();
      Object[] array = (Object[]) Array.newInstance(type, Math.min(size, FIRST_ELEMENTS));
      for (int i = 0; i < size; i++) {
        if (i == array.length) {
          array = larger(array, size);
        }
        array[i] = element.read(in);
      }
      in.leave();
      return array;
    }
  }

  /**
   * Makes room for more elements of a list or an array that is being read.
   *
   * @param size how many it has
   */
  static Object[] larger(Object[] elements, int size) {
    return Arrays.copyOf(elements, (int) Math.min(size, (long) elements.length << GROWTH_SHIFT));
  }

  private static Object notNull(Object value, int index) {
    if (value == null) {
      throw new NullPointerException("element " + index + " is null");
    }
    return value;
  }

  private record OptionalCodec(Codec<Object> element) implements Codec<Object> {
    @Override
    public int size(Object value) {
      Optional<?> optional = (Optional<?>) value;
      return optional.isPresent() ? 1 + element.size(optional.get()) : 1;
    }

    @Override
    public void write(Object value, MessageWriter out) {
      Optional<?> optional = (Optional<?>) value;
      out.putBoolean(optional.isPresent());
      if (optional.isPresent()) {
        element.write(optional.get(), out);
      }
    }

    @Override
    public Object read(MessageReader in) {
      return in.getBoolean() ? Optional.of(element.read(in)) : Optional.empty();
    }
  }

  private record NullableCodec(Codec<Object> element) implements Codec<Object> {
    @Override
    public int size(Object value) {
      return value == null ? 1 : 1 + element.size(value);
    }

    @Override
    public void write(Object value, MessageWriter out) {
      out.putBoolean(value != null);
      if (value != null) {
        element.write(value, out);
      }
    }

    @Override
    public Object read(MessageReader in) {
      return in.getBoolean() ? element.read(in) : null;
    }
  }

  /**
   * The codec of an enum. Writes ordinals: the form lists all constants in order, so both ends
   * agree.
   */
  @SuppressWarnings("EnumOrdinal")
  private static final class EnumCodec implements Codec<Object> {
    private final Class<?> type;
    private final Object[] constants;

    EnumCodec(Class<?> type, Object[] constants) {
      this.type = type;
      this.constants = constants;
    }

    @Override
    public int size(Object value) {
      return MessageWriter.sizeOfLength(((Enum<?>) value).ordinal());
    }

    @Override
    public void write(Object value, MessageWriter out) {
      out.putLength(((Enum<?>) value).ordinal());
    }

    @Override
    public Object read(MessageReader in) {
      int ordinal = in.getVarUnsigned();
      if (ordinal < 0 || ordinal >= constants.length) {
        throw new MalformedMessageException(type.getName() + " has no constant number " + ordinal);
      }
      return constants[ordinal];
    }
  }

  private static final class SealedCodec implements Codec<Object> {
    private final Class<?> type;
    private final Class<?>[] types;
    private final List<Codec<Object>> codecs;

    SealedCodec(Class<?> type, Class<?>[] types, List<Codec<Object>> codecs) {
      this.type = type;
      this.types = types;
      this.codecs = codecs;
    }

    private int index(Object value) {
      Class<?> found = value.getClass();
      for (int i = 0; i < types.length; i++) {
        if (types[i] == found || (types[i].isEnum() && types[i].isInstance(value))) {
          return i;
        }
      }
      throw new IllegalArgumentException(found.getName() + " is no " + type.getName());
    }

    @Override
    public int size(Object value) {
      int index = index(value);
      return Math.addExact(MessageWriter.sizeOfLength(index), codecs.get(index).size(value));
    }

    @Override
    public void write(Object value, MessageWriter out) {
      int index = index(value);
      out.putLength(index);
      codecs.get(index).write(value, out);
    }

    @Override
    public Object read(MessageReader in) {
      int index = in.getVarUnsigned();
      if (index < 0 || index >= types.length) {
        throw new MalformedMessageException(type.getName() + " has no subtype number " + index);
      }
      return codecs.get(index).read(in);
    }
  }
}
