// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.codec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.management.ThreadMXBean;
import io.talaria.messaging.Codec;
import io.talaria.messaging.MalformedMessageException;
import io.talaria.messaging.MessageWriter;
import io.talaria.messaging.OptionalField;
import io.talaria.messaging.Varint;
import io.talaria.testsupport.Seed;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandles;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.util.AbstractSequentialList;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.ListIterator;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.UUID;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Records go out and come back; what cannot is refused by name. */
class CodecsTest {
  record Empty() {}

  record Primitives(
      boolean a,
      byte b,
      short c,
      char d,
      int e,
      long f,
      float g,
      double h,
      @Varint int i,
      @Varint long j) {}

  @SuppressWarnings("ArrayRecordComponent") // what is tested
  record Arrays(
      boolean[] a,
      byte[] b,
      short[] c,
      char[] d,
      int[] e,
      long[] f,
      float[] g,
      double[] h,
      String[] i,
      int[][] j) {}

  record Boxes(
      Boolean a, Byte b, Short c, Character d, Integer e, Long f, Float g, Double h, UUID i) {}

  enum Color {
    RED,
    GREEN {
      @Override
      public String toString() {
        return "green";
      }
    }
  }

  sealed interface Shape permits Circle, Square, Group {}

  record Circle(double radius) implements Shape {}

  record Square(double side) implements Shape {}

  record Group(List<Shape> shapes) implements Shape {}

  record Tree(int value, @OptionalField Tree left, @OptionalField Tree right) {}

  record Mixed(
      String text,
      Color color,
      Shape shape,
      List<List<String>> lists,
      Optional<Primitives> optional,
      @OptionalField String nullable) {}

  private record Hidden(int value) {}

  record Positive(int value) {
    Positive {
      if (value < 0) {
        throw new IllegalArgumentException("negative");
      }
    }
  }

  private static final Codecs CODECS = new Codecs(MethodHandles.lookup());

  private static <T> MemorySegment encode(Class<T> type, T value) {
    Codec<T> codec = CODECS.ofRecord(type);
    int size = codec.size(value);
    MemorySegment memory = Arena.ofAuto().allocate(size + 8L, 8);
    SegmentWriter out = new SegmentWriter().over(memory, 3, size);
    codec.write(value, out);
    assertThat(out.remaining()).as("size of %s", value).isZero();
    return memory.asSlice(3, size);
  }

  private static <T> T decode(Class<T> type, MemorySegment bytes) {
    SegmentReader in = new SegmentReader().over(bytes, 0, (int) bytes.byteSize());
    T value = CODECS.ofRecord(type).read(in);
    in.expectEnd();
    return value;
  }

  private static <T> void roundTrip(Class<T> type, T value) {
    assertThat(decode(type, encode(type, value))).usingRecursiveComparison().isEqualTo(value);
  }

  /** Each element by number costs as many steps as stand before it, as in a {@code LinkedList}. */
  private static final class Linked<T> extends AbstractSequentialList<T> {
    private final List<T> elements;

    Linked(List<T> elements) {
      this.elements = elements;
    }

    @Override
    public T get(int index) {
      throw new AssertionError("element " + index + " was taken by its number");
    }

    @Override
    public ListIterator<T> listIterator(int index) {
      return elements.listIterator(index);
    }

    @Override
    public int size() {
      return elements.size();
    }
  }

  @Test
  void aListWithoutRandomAccessIsWrittenByItsIterator() {
    List<Shape> shapes = List.of(new Circle(1), new Group(List.of(new Square(2))), new Square(3));
    MemorySegment bytes = encode(Group.class, new Group(new Linked<>(shapes)));
    assertThat(decode(Group.class, bytes)).isEqualTo(new Group(shapes));
    Group withNull = new Group(new Linked<>(Collections.singletonList(null)));
    assertThatThrownBy(() -> CODECS.ofRecord(Group.class).size(withNull))
        .isInstanceOf(NullPointerException.class)
        .hasMessageContaining("element 0 is null");
  }

  private static Primitives primitives(Random random) {
    return new Primitives(
        random.nextBoolean(),
        (byte) random.nextInt(),
        (short) random.nextInt(),
        (char) random.nextInt(),
        random.nextInt(),
        random.nextLong(),
        random.nextFloat(),
        random.nextDouble(),
        random.nextInt() >> random.nextInt(32),
        random.nextLong() >> random.nextInt(64));
  }

  private static String text(Random random) {
    StringBuilder text = new StringBuilder();
    for (int i = random.nextInt(200); i > 0; i--) {
      switch (random.nextInt(4)) {
        case 0 -> text.append((char) random.nextInt(0x80));
        case 1 -> text.append((char) random.nextInt(0xd800));
        case 2 -> text.appendCodePoint(0x10000 + random.nextInt(0x100000));
        default -> text.append("plain");
      }
    }
    return text.toString();
  }

  @Test
  void randomRecordsComeBackAsTheyWere() {
    long seed = Seed.next();
    Random random = new Random(seed);
    for (int i = 0; i < 500; i++) {
      roundTrip(Primitives.class, primitives(random));
      int n = random.nextInt(50);
      String text = text(random);
      roundTrip(
          Mixed.class,
          new Mixed(
              text,
              Color.values()[random.nextInt(2)],
              new Group(List.of(new Circle(random.nextDouble()), new Group(List.of()))),
              List.of(List.of(text, "b"), List.of()),
              random.nextBoolean() ? Optional.of(primitives(random)) : Optional.empty(),
              random.nextBoolean() ? null : text));
      long[] longs = random.longs(n).toArray();
      roundTrip(
          Arrays.class,
          new Arrays(
              new boolean[n],
              new byte[n],
              new short[] {1, (short) n},
              text.toCharArray(),
              random.ints(n).toArray(),
              longs,
              new float[] {random.nextFloat()},
              random.doubles(n).toArray(),
              new String[] {text},
              new int[][] {{1}, {}, {2, n}}));
    }
  }

  @Test
  void theEdgesOfNumbersComeBack() {
    for (long edge : new long[] {0, 1, -1, 63, 64, -64, -65, 8191, 8192, 1 << 20, 1L << 62}) {
      for (long value : new long[] {edge, -edge, Long.MAX_VALUE, Long.MIN_VALUE}) {
        roundTrip(
            Primitives.class,
            new Primitives(
                true,
                Byte.MIN_VALUE,
                Short.MAX_VALUE,
                '\uffff',
                (int) value,
                value,
                -0.5f,
                Double.NEGATIVE_INFINITY,
                (int) value,
                value));
      }
    }
    roundTrip(
        Boxes.class, new Boxes(true, (byte) 1, (short) 2, 'c', 4, 5L, 6f, 7d, UUID.randomUUID()));
    roundTrip(Empty.class, new Empty());
    roundTrip(Hidden.class, new Hidden(5));
    assertThat(encode(Primitives.class, primitives(new Random(1))).byteSize()).isGreaterThan(30);
  }

  @Test
  void aRecordMayContainItself() {
    roundTrip(Tree.class, new Tree(1, new Tree(2, null, null), new Tree(3, null, null)));
  }

  @Test
  void moreThan64InOneAnotherAreRefused() {
    Tree tree = new Tree(0, null, null);
    for (int i = 0; i < 100; i++) {
      tree = new Tree(i, tree, null);
    }
    MemorySegment bytes = encode(Tree.class, tree);
    assertThatThrownBy(() -> decode(Tree.class, bytes))
        .isInstanceOf(MalformedMessageException.class)
        .hasMessageContaining("more than 64");
  }

  @Test
  void nullIsRefusedByName() {
    assertThatThrownBy(
            () ->
                encode(
                    Mixed.class,
                    new Mixed(null, Color.RED, new Circle(1), List.of(), Optional.empty(), "")))
        .isInstanceOf(NullPointerException.class)
        .hasMessageContaining("component text of " + Mixed.class.getName());
    assertThatThrownBy(
            () ->
                encode(
                    Mixed.class,
                    new Mixed(
                        "",
                        Color.RED,
                        new Group(Collections.singletonList(null)),
                        List.of(),
                        Optional.empty(),
                        "")))
        .isInstanceOf(NullPointerException.class)
        .hasMessageContaining("element 0");
  }

  record WithMap(int a, Map<String, String> map) {}

  record WithObject(Object anything) {}

  record VarintText(@Varint String text) {}

  record NullableInt(@OptionalField int number) {}

  @Test
  void whatHasNoCodecIsRefusedByName() {
    Codecs codecs = new Codecs(MethodHandles.lookup());
    assertThatThrownBy(() -> codecs.ofRecord(WithMap.class))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("component map of")
        .hasMessageContaining("java.util.Map<java.lang.String, java.lang.String>")
        .hasMessageContaining("or register a Codec");
    assertThatThrownBy(() -> codecs.ofRecord(WithObject.class))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("component anything of");
    assertThatThrownBy(() -> codecs.ofRecord(VarintText.class))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("@Varint");
    assertThatThrownBy(() -> codecs.ofRecord(NullableInt.class))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("@OptionalField");
    assertThatThrownBy(() -> codecs.ofRecord(String.class))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("is not a record");
  }

  record EmptyList(List<Empty> all) {}

  record Wrapped(Empty empty, Empty other) {}

  @SuppressWarnings("ArrayRecordComponent") // what is tested
  record EmptyArray(Wrapped[] all) {}

  record EmptyLists(Optional<List<List<Wrapped>>> all) {}

  record Perhaps(@OptionalField Empty empty) {}

  record Full(List<Optional<Empty>> optional, List<Perhaps> nullable, List<Full> more) {}

  /** Else a list of a few would be written, and refused by the reader. */
  @Test
  void listsAndArraysOfElementsWithoutBytesAreRefused() {
    Codecs codecs = new Codecs(MethodHandles.lookup());
    for (Class<?> type : List.of(EmptyList.class, EmptyArray.class, EmptyLists.class)) {
      assertThatThrownBy(() -> codecs.ofRecord(type))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("component all of " + type.getName())
          .hasMessageContaining("which has no bytes");
    }
    roundTrip(Wrapped.class, new Wrapped(new Empty(), new Empty()));
    List<Optional<Empty>> optional = List.of(Optional.of(new Empty()), Optional.empty());
    List<Perhaps> nullable = List.of(new Perhaps(null), new Perhaps(new Empty()));
    Full full = new Full(optional, nullable, List.of());
    roundTrip(Full.class, new Full(optional, nullable, List.of(full, full)));
  }

  @Test
  void hostileBytesEndInAnExceptionAndAllocateLittle() {
    long seed = Seed.next();
    Random random = new Random(seed);
    MemorySegment good =
        encode(
            Mixed.class,
            new Mixed(
                "text", Color.RED, new Square(1), List.of(List.of("a")), Optional.empty(), null));
    int refused = 0;
    for (int i = 0; i < 50_000; i++) {
      int size = (int) good.byteSize() - random.nextInt(4);
      MemorySegment bad = Arena.ofAuto().allocate(Math.max(1, size));
      MemorySegment.copy(good, 0, bad, 0, size);
      for (int flips = 1 + random.nextInt(4); flips > 0; flips--) {
        bad.set(ValueLayout.JAVA_BYTE, random.nextInt(size), (byte) random.nextInt());
      }
      try {
        decode(Mixed.class, bad.asSlice(0, size));
      } catch (MalformedMessageException e) {
        refused++;
      }
    }
    assertThat(refused).isGreaterThan(10_000);
  }

  @Test
  void aLengthBeyondTheMessageIsRefusedBeforeAnythingIsMade() {
    MemorySegment memory = Arena.ofAuto().allocate(16);
    SegmentWriter out = new SegmentWriter().over(memory, 0, 16);
    out.putLength(Integer.MAX_VALUE);
    SegmentReader in = new SegmentReader().over(memory, 0, 16);
    assertThatThrownBy(in::getLongs)
        .isInstanceOf(MalformedMessageException.class)
        .hasMessageContaining("a length of 2147483647");
  }

  record Branch(List<Branch> branches) {}

  /** On each level as many elements as bytes are left. */
  @Test
  void lengthsWithoutElementsTakeLittleMemory() {
    int bytes = 1 << 20;
    MemorySegment memory = Arena.ofAuto().allocate(bytes);
    SegmentWriter out = new SegmentWriter().over(memory, 0, bytes);
    for (int i = 0; i < 100; i++) {
      out.putLength(1_000_000);
    }
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long before = threads.getCurrentThreadAllocatedBytes();
    assertThatThrownBy(() -> decode(Branch.class, memory))
        .isInstanceOf(MalformedMessageException.class)
        .hasMessageContaining("more than 64");
    assertThat(threads.getCurrentThreadAllocatedBytes() - before).isLessThan(16 << 20);
  }

  @SuppressWarnings("ArrayRecordComponent") // what is tested
  record Many(List<Integer> list, Integer[] array) {}

  @Test
  void manyElementsComeOut() {
    for (int size : new int[] {0, 1, 1023, 1024, 1025, 4096, 4097, 100_000}) {
      Integer[] values = IntStream.range(0, size).boxed().toArray(Integer[]::new);
      Many read = decode(Many.class, encode(Many.class, new Many(List.of(values), values)));
      assertThat(read.list()).isEqualTo(List.of(values));
      assertThat(read.array()).isEqualTo(values);
    }
  }

  @Test
  void aConstructorThatRefusesIsTheMessagesFault() {
    MemorySegment memory = Arena.ofAuto().allocate(4);
    memory.set(ValueLayout.JAVA_INT_UNALIGNED, 0, -1);
    assertThatThrownBy(() -> decode(Positive.class, memory))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void formsTellDifferentComponentsApart() {
    record One(int a, String b) {}
    record Other(int a, @OptionalField String b) {}
    Codecs codecs = new Codecs(MethodHandles.lookup());
    assertThat(codecs.ofRecord(One.class)).isNotNull();
    assertThat(codecs.ofRecord(Other.class)).isNotNull();
    assertThat(codecs.form(One.class)).isEqualTo("record One(a int;b String;)");
    assertThat(codecs.form(Other.class)).isEqualTo("record Other(a int;b nullable String;)");
  }

  static final class Elsewhere {
    record Circle(long radius) {}

    private Elsewhere() {}
  }

  @SuppressWarnings("ArrayRecordComponent") // what is tested
  record All(
      Color color,
      Circle circle,
      List<Circle> circles,
      Elsewhere.Circle other,
      Optional<Elsewhere.Circle> others,
      int[][] numbers,
      @Varint long small,
      Empty nothing,
      List<Shape> shapes,
      Shape shape) {}

  /** Each thing is described once, whatever has the same name, or was registered before. */
  @Test
  void formsDescribeWhatTheyNeedOnce() {
    String form =
        "record All(color enum[RED, GREEN];"
            + "circle record Circle(radius double;);circles list(^Circle);"
            + "other record Circle~2(radius long;);others optional(^Circle~2);"
            + "numbers array(int[]);small varint long;nothing record Empty();"
            + "shapes list(oneOf Shape(Circle ^Circle;"
            + "Group record Group(shapes list(^Shape););Square record Square(side double;);));"
            + "shape ^Shape;)";
    Codecs codecs = new Codecs(MethodHandles.lookup());
    assertThat(codecs.ofRecord(Group.class)).isNotNull();
    assertThat(codecs.ofRecord(All.class)).isNotNull();
    assertThat(codecs.form(All.class)).isEqualTo(form);
    Form.Whole whole = Form.of(form);
    assertThat(whole.named())
        .containsOnlyKeys("All", "Circle", "Circle~2", "Shape", "Group", "Square");
    assertThat(whole.form()).isSameAs(whole.named().get("All"));
  }

  @Test
  void sizesOfStringsAreThoseOfUtf8() {
    List<String> texts = new ArrayList<>(List.of("", "a", "é", "€", "😀", "a".repeat(127)));
    texts.add("a".repeat(128));
    texts.add("\ud800");
    for (String text : texts) {
      int bytes = text.getBytes(StandardCharsets.UTF_8).length;
      assertThat(MessageWriter.utf8Bytes(text)).as(text).isEqualTo(bytes);
    }
  }
}
