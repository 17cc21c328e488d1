// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.codec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.talaria.messaging.Codec;
import io.talaria.messaging.MalformedMessageException;
import io.talaria.messaging.OptionalField;
import io.talaria.messaging.Varint;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What a record becomes that was written by a node with other components. */
@Timeout(60)
@SuppressWarnings({
  "ArrayRecordComponent", // arrays are what is tested
  "SameNameButDifferent" // as are two versions of a record
})
class AdapterTest {
  private static final MethodHandles.Lookup HERE = MethodHandles.lookup();

  /** Writes one record, and reads it as another. */
  private static <T> T as(Class<T> wanted, Record written) {
    Codecs codecs = new Codecs(HERE);
    @SuppressWarnings("unchecked")
    Codec<Object> writer = (Codec<Object>) (Codec<?>) codecs.ofRecord(written.getClass());
    Codec<Object> reader = new Codecs(HERE).adapted(wanted, codecs.form(written.getClass()));
    try (Arena arena = Arena.ofConfined()) {
      int size = writer.size(written);
      MemorySegment memory = arena.allocate(Math.max(1, size));
      SegmentWriter out = new SegmentWriter();
      out.over(memory, 0, size);
      writer.write(written, out);
      SegmentReader in = new SegmentReader().over(memory, 0, size);
      T read = wanted.cast(reader.read(in));
      in.expectEnd();
      return read;
    }
  }

  record Old(long item, String name) {}

  record More(
      String name,
      int count,
      long item,
      List<String> tags,
      Optional<String> note,
      int[] sizes,
      @OptionalField UUID id,
      Boolean good) {}

  @Test
  void whatIsNotThereGetsADefault() {
    More read = as(More.class, new Old(7, "seven"));
    assertThat(read.name()).isEqualTo("seven");
    assertThat(read.item()).isEqualTo(7);
    assertThat(read.count()).isZero();
    assertThat(read.tags()).isEmpty();
    assertThat(read.note()).isEmpty();
    assertThat(read.sizes()).isEmpty();
    assertThat(read.id()).isNull();
    assertThat(read.good()).isFalse();
  }

  @Test
  void whatIsNotWantedIsSkipped() {
    More written =
        new More(
            "x", 3, 4, List.of("a", "b"), Optional.of("n"), new int[] {1}, new UUID(1, 2), true);
    assertThat(as(Old.class, written)).isEqualTo(new Old(4, "x"));
  }

  enum Color {
    RED,
    GREEN
  }

  sealed interface Shape permits Circle, Square {}

  record Circle(double radius) implements Shape {}

  record Square(long side, Tree tree) implements Shape {}

  record Tree(int value, List<Tree> children) {}

  record Rich(
      byte[] bytes,
      String[] names,
      @Varint int small,
      @Varint long larger,
      @OptionalField String nothing,
      @OptionalField String something,
      Color color,
      Shape shape,
      Tree tree,
      List<Optional<Shape>> shapes,
      char letter,
      int last) {}

  record Last(int last) {}

  @Test
  void allKindsCanBeSkipped() {
    Tree tree = new Tree(1, List.of(new Tree(2, List.of()), new Tree(3, List.of())));
    Rich written =
        new Rich(
            new byte[70],
            new String[] {"a", ""},
            300,
            -1,
            null,
            "s",
            Color.GREEN,
            new Square(3, tree),
            tree,
            List.of(Optional.of(new Circle(1)), Optional.empty()),
            'x',
            77);
    assertThat(as(Last.class, written)).isEqualTo(new Last(77));
  }

  record Narrow(byte a, short b, char c, int d, float e, @Varint int f, int g, Integer h) {}

  record Wide(long d, double e, int a, long b, int c, long f, @Varint long g, long h) {}

  @Test
  void numbersMayBecomeWider() {
    Random random = new Random(1);
    for (int i = 0; i < 1000; i++) {
      Narrow narrow =
          new Narrow(
              (byte) random.nextInt(),
              (short) random.nextInt(),
              (char) random.nextInt(),
              random.nextInt(),
              random.nextFloat(),
              random.nextInt() >> random.nextInt(32),
              random.nextInt(),
              random.nextInt());
      assertThat(as(Wide.class, narrow))
          .isEqualTo(
              new Wide(
                  narrow.d(),
                  narrow.e(),
                  narrow.a(),
                  narrow.b(),
                  narrow.c(),
                  narrow.f(),
                  narrow.g(),
                  narrow.h()));
    }
  }

  @Test
  void butNotNarrower() {
    record Long1(long a) {}
    record Int1(int a) {}
    record Float1(float a) {}
    record Text1(String a) {}
    refused(Int1.class, new Long1(1), "component a of " + Int1.class.getName() + " is a int here");
    refused(Float1.class, new Int1(1), "is a float here, and a int there");
    refused(Text1.class, new Int1(1), "is a java.lang.String here, and a int there");
    refused(Int1.class, new Text1(""), "is a int here, and a String there");
  }

  private static void refused(Class<?> wanted, Record written, String why) {
    assertThatThrownBy(() -> as(wanted, written))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(why);
  }

  @Test
  void whatMayBeNullThereMustBeAllowedToHere() {
    record Strict(String a) {}
    record Loose(@OptionalField String a) {}
    assertThat(as(Loose.class, new Strict("x"))).isEqualTo(new Loose("x"));
    refused(Strict.class, new Loose("x"), "may be null there, and not here");
    record Bare(int b) {}
    record WithId(int b, UUID id) {}
    refused(
        WithId.class, new Bare(1), "a UUID has no default: declare it @OptionalField or Optional");
  }

  // ---- nested, as two versions of the same names

  static final class First {
    enum Color {
      RED,
      GREEN,
      BLUE
    }

    sealed interface Shape permits Circle, Square, Line {}

    record Circle(int radius) implements Shape {}

    record Square(int side) implements Shape {}

    record Line(int length) implements Shape {}

    record Tree(int value, String label, List<Tree> children) {}

    record All(Color color, Shape shape, Tree tree, List<Tree> trees, Tree[] array) {}

    private First() {}
  }

  static final class Second {
    enum Color {
      BLUE,
      RED
    }

    sealed interface Shape permits Square, Circle {}

    record Circle(double radius, String unit) implements Shape {}

    record Square(long side) implements Shape {}

    record Tree(List<Tree> children, long value) {}

    record All(Tree[] array, Shape shape, List<Tree> trees, Color color, Tree tree, int more) {}

    private Second() {}
  }

  private static First.All first(First.Color color, First.Shape shape) {
    First.Tree leaf = new First.Tree(3, "leaf", List.of());
    First.Tree tree =
        new First.Tree(1, "root", List.of(leaf, new First.Tree(2, "", List.of(leaf))));
    return new First.All(color, shape, tree, List.of(leaf, tree), new First.Tree[] {leaf});
  }

  @Test
  void whatIsInsideIsAdaptedToo() {
    Second.All read = as(Second.All.class, first(First.Color.BLUE, new First.Circle(5)));
    Second.Tree leaf = new Second.Tree(List.of(), 3);
    Second.Tree tree = new Second.Tree(List.of(leaf, new Second.Tree(List.of(leaf), 2)), 1);
    assertThat(read.tree()).isEqualTo(tree);
    assertThat(read.trees()).containsExactly(leaf, tree);
    assertThat(read.array()).containsExactly(leaf);
    assertThat(read.color()).isEqualTo(Second.Color.BLUE);
    assertThat(read.shape()).isEqualTo(new Second.Circle(5, ""));
    assertThat(read.more()).isZero();
    assertThat(as(Second.All.class, first(First.Color.RED, new First.Square(9))).shape())
        .isEqualTo(new Second.Square(9));
  }

  @Test
  void manyElementsAreAdapted() {
    First.Tree leaf = new First.Tree(3, "leaf", List.of());
    for (int size : new int[] {1024, 1025, 5000}) {
      Second.Tree read =
          as(Second.Tree.class, new First.Tree(1, "", Collections.nCopies(size, leaf)));
      assertThat(read.children())
          .isEqualTo(Collections.nCopies(size, new Second.Tree(List.of(), 3)));
    }
  }

  @Test
  void constantsAndLeavesThatAreNotHereCostThatMessage() {
    assertThatThrownBy(() -> as(Second.All.class, first(First.Color.GREEN, new First.Circle(1))))
        .isInstanceOf(MalformedMessageException.class)
        .hasMessageContaining("has no constant GREEN here");
    assertThatThrownBy(() -> as(Second.All.class, first(First.Color.RED, new First.Line(1))))
        .isInstanceOf(MalformedMessageException.class)
        .hasMessageContaining("has no one subtype Line here");
  }

  @Test
  void deepAndEndlessOnesEndAtTheLimit() {
    First.Tree tree = new First.Tree(0, "", List.of());
    for (int i = 0; i < 20; i++) {
      tree = new First.Tree(i, "", List.of(tree));
    }
    assertThat(as(Second.Tree.class, tree).value()).isEqualTo(19);
    Codec<Object> reader = new Codecs(HERE).adapted(Second.Tree.class, "record Tree(x ^Tree;)");
    MemorySegment memory = MemorySegment.ofArray(new byte[8]);
    assertThatThrownBy(() -> reader.read(new SegmentReader().over(memory, 0, 8)))
        .isInstanceOf(MalformedMessageException.class);
  }

  static final class Fourth {
    sealed interface Expression permits Value, Not {}

    record Value(short value) implements Expression {}

    record Not(Expression of) implements Expression {}

    record Whole(Expression all) {}

    private Fourth() {}
  }

  static final class Fifth {
    sealed interface Expression permits Value, Not {}

    record Value(int value) implements Expression {}

    record Not(Expression of) implements Expression {}

    record Whole(Expression all) {}

    private Fifth() {}
  }

  @Test
  void leavesLieAsDeepInEachOtherAsInOneVersion() {
    Fourth.Expression deep = new Fourth.Value((short) 3);
    for (int i = 0; i < 50; i++) {
      deep = new Fourth.Not(deep);
    }
    Fourth.Whole written = new Fourth.Whole(deep);
    Fifth.Expression read = as(Fifth.Whole.class, written).all();
    while (read instanceof Fifth.Not not) {
      read = not.of();
    }
    assertThat(read).isEqualTo(new Fifth.Value(3));
    assertThat(as(Last.class, written)).as("skipped").isEqualTo(new Last(0));
  }

  record Leaf(int a) {}

  record Twice(Leaf first, Leaf second, List<Leaf> more) {}

  static final class Third {
    record Leaf(String note, long a) {}

    record Twice(List<Leaf> more, Leaf second) {}

    private Third() {}
  }

  @Test
  void whatIsDescribedOnceIsAdaptedWhereverItIs() {
    Third.Twice read =
        as(Third.Twice.class, new Twice(new Leaf(1), new Leaf(2), List.of(new Leaf(3))));
    assertThat(read)
        .isEqualTo(new Third.Twice(List.of(new Third.Leaf("", 3)), new Third.Leaf("", 2)));
    assertThat(as(Twice.class, new Twice(new Leaf(1), new Leaf(2), List.of())).second())
        .isEqualTo(new Leaf(2));
  }

  record Knot(@OptionalField Knot a, @OptionalField Knot b) {}

  /** Each level stands for two of the one below. */
  private static String doubled(int levels, String innermost) {
    String form = innermost;
    for (int i = 1; i <= levels; i++) {
      form = "record N" + i + "(a " + form + ";b ^N" + (i - 1) + ";)";
    }
    return form;
  }

  @Test
  void aFormStandsForNoMoreThanTheBytesOfItsMessage() {
    Codecs codecs = new Codecs(HERE);
    for (String empty : new String[] {"record N0()", "record N0(x record E();)"}) {
      assertThatThrownBy(() -> codecs.adapted(Knot.class, doubled(40, empty)))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessage("^N0 is in no such form");
    }
    assertThatThrownBy(() -> codecs.adapted(Old.class, "record Old(x list(list(record E()));)"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("which has no bytes");
    MemorySegment memory = MemorySegment.ofArray(new byte[100]);
    for (Class<?> own : new Class<?>[] {Knot.class, Old.class}) {
      Codec<Object> reader = codecs.adapted(own, doubled(40, "record N0(x byte;)"));
      assertThatThrownBy(() -> reader.read(new SegmentReader().over(memory, 0, 100)))
          .isInstanceOf(MalformedMessageException.class);
    }
  }

  @Test
  void textsThatAreNoFormsAreRefused() {
    Codecs codecs = new Codecs(HERE);
    for (String each :
        new String[] {
          "",
          "record",
          "record Old(",
          "record Old(item long)",
          "record Old(item long;) ",
          "record Old(item ^Other;)",
          "record Old(item long;item long;)",
          "record Old(x record A(y int;);z record A(y int;);)",
          "record Old(x none;)",
          "record Old(x varint String;)",
          "record Old(x enum[A B;)",
          "record Old(x " + "list(".repeat(100) + "int" + ")".repeat(100) + ";)",
          "record Old(" + "x".repeat(5000) + " int;)",
          "record Old(" + "x int;".repeat(300) + ")",
          "long"
        }) {
      assertThatThrownBy(() -> codecs.adapted(Old.class, each))
          .as(each)
          .isInstanceOf(IllegalArgumentException.class);
    }
  }

  /** Anything at all: a codec, or an exception that says so; no other, and no endless loop. */
  @Test
  void changedFormsAndBytesDoNoHarm() {
    Codecs codecs = new Codecs(HERE);
    codecs.ofRecord(First.All.class);
    String form = codecs.form(First.All.class);
    Random random = new Random(5);
    byte[] bytes = new byte[200];
    for (int i = 0; i < 20_000; i++) {
      StringBuilder changed = new StringBuilder(form);
      for (int c = random.nextInt(4); c > 0; c--) {
        int at = random.nextInt(changed.length());
        switch (random.nextInt(3)) {
          case 0 -> changed.deleteCharAt(at);
          case 1 -> changed.insert(at, form.charAt(random.nextInt(form.length())));
          default -> changed.setCharAt(at, form.charAt(random.nextInt(form.length())));
        }
      }
      random.nextBytes(bytes);
      try {
        Codec<Object> reader = codecs.adapted(Second.All.class, changed.toString());
        reader.read(new SegmentReader().over(MemorySegment.ofArray(bytes), 0, 200));
      } catch (IllegalArgumentException | MalformedMessageException e) {
        // As it says.
      }
    }
  }
}
