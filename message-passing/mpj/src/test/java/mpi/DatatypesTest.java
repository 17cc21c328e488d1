// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package mpi;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.mpj.datatype.BaseType;
import io.talaria.testsupport.Seed;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Types made of types at random, sent and received, against a list of places that a plain loop
 * makes.
 */
@Timeout(120)
class DatatypesTest {
  private static final int LEVELS = 3;

  /** Where the elements of one are, in order, and its bounds. */
  private record Model(Datatype type, List<Integer> places, int lower, int upper) {
    int extent() {
      return upper - lower;
    }

    /** Copies of this, one extent apart. */
    void add(List<Integer> to, int copies, int at) {
      for (int k = 0; k < copies; k++) {
        for (int place : places) {
          to.add(at + k * extent() + place);
        }
      }
    }
  }

  private static Model of(Datatype type, List<Integer> places, int lower, int upper) {
    return new Model(type, places, lower, upper);
  }

  private static Model random(Random random, int levels) {
    if (levels == 0) {
      return of(MPI.INT, List.of(0), 0, 1);
    }
    Model part = random(random, levels - 1);
    return switch (random.nextInt(4)) {
      case 0 -> contiguous(random, part);
      case 1 -> vector(random, part);
      case 2 -> indexed(random, part);
      default -> struct(random, part);
    };
  }

  private static Model contiguous(Random random, Model part) {
    List<Integer> places = new ArrayList<>();
    int count = 1 + random.nextInt(3);
    part.add(places, count, 0);
    Datatype type = Datatype.Contiguous(count, part.type);
    return of(type, places, part.lower, part.lower + count * part.extent());
  }

  private static Model vector(Random random, Model part) {
    List<Integer> places = new ArrayList<>();
    int count = 1 + random.nextInt(3);
    int length = 1 + random.nextInt(2);
    int stride = length + random.nextInt(3);
    int e = part.extent();
    for (int i = 0; i < count; i++) {
      part.add(places, length, i * stride * e);
    }
    Datatype type = Datatype.Vector(count, length, stride, part.type);
    return of(type, places, part.lower, part.lower + ((count - 1) * stride + length) * e);
  }

  /** Their order need not be that of memory. */
  private static Model indexed(Random random, Model part) {
    int count = 1 + random.nextInt(3);
    int[] lengths = new int[count];
    int[] at = new int[count];
    int free = random.nextInt(2);
    boolean backwards = random.nextBoolean();
    for (int i = 0; i < count; i++) {
      int k = backwards ? count - 1 - i : i;
      lengths[k] = 1 + random.nextInt(2);
      at[k] = free;
      free += lengths[k] + random.nextInt(3);
    }
    List<Integer> places = new ArrayList<>();
    int e = part.extent();
    int lower = Integer.MAX_VALUE;
    int upper = Integer.MIN_VALUE;
    for (int i = 0; i < count; i++) {
      part.add(places, lengths[i], at[i] * e);
      lower = Math.min(lower, at[i] * e + part.lower);
      upper = Math.max(upper, (at[i] + lengths[i]) * e + part.lower);
    }
    return of(Datatype.Indexed(lengths, at, part.type), places, lower, upper);
  }

  /** The part and two elements behind it, with bounds of its own. */
  private static Model struct(Random random, Model part) {
    List<Integer> places = new ArrayList<>();
    int behind = part.upper + random.nextInt(3);
    part.add(places, 1, 0);
    places.add(behind);
    places.add(behind + 1);
    int lower = part.lower - random.nextInt(2);
    int upper = behind + 2 + random.nextInt(3);
    Datatype type =
        Datatype.Struct(
            new int[] {1, 1, 2, 1},
            new int[] {lower, 0, behind, upper},
            new Datatype[] {MPI.LB, part.type, MPI.INT, MPI.UB});
    return of(type, places, lower, upper);
  }

  private static void sentAndReceived(Intracomm w, Model model, int count, String what) {
    Datatype type = model.type;
    assertThat(type.Size()).as(what).isEqualTo(model.places.size());
    assertThat(type.Extent()).as(what).isEqualTo(model.extent());
    assertThat(type.Lb()).as(what).isEqualTo(model.lower);
    assertThat(type.Ub()).as(what).isEqualTo(model.upper);
    type.Commit();
    List<Integer> all = new ArrayList<>();
    model.add(all, count, 0);
    int least = Math.min(0, all.stream().mapToInt(i -> i).min().orElse(0));
    int most = all.stream().mapToInt(i -> i).max().orElse(0);
    int offset = 3 - least;
    int[] source = new int[offset + most + 4];
    for (int i = 0; i < source.length; i++) {
      source[i] = i + 1;
    }
    int other = 1 - w.Rank();
    int elements = all.size();
    // Gathered from places, and received side by side.
    int[] dense = new int[elements];
    w.Sendrecv(source, offset, count, type, other, 1, dense, 0, elements, MPI.INT, other, 1);
    int[] expected = new int[elements];
    for (int i = 0; i < elements; i++) {
      expected[i] = source[offset + all.get(i)];
    }
    assertThat(dense).as(what).isEqualTo(expected);
    // Spread from side by side, and received at places; the rest is left as it is.
    int[] target = new int[source.length];
    Arrays.fill(target, -7);
    Status status =
        w.Sendrecv(dense, 0, elements, MPI.INT, other, 2, target, offset, count, type, other, 2);
    assertThat(status.Get_count(type)).as(what).isEqualTo(count);
    int[] spread = new int[source.length];
    Arrays.fill(spread, -7);
    for (int i = 0; i < elements; i++) {
      spread[offset + all.get(i)] = dense[i];
    }
    assertThat(target).as(what).isEqualTo(spread);
    // Packed and unpacked, the same.
    byte[] packed = new byte[w.Pack_size(count, type)];
    assertThat(w.Pack(source, offset, count, type, packed, 0)).isEqualTo(packed.length);
    int[] unpacked = new int[source.length];
    Arrays.fill(unpacked, -7);
    assertThat(w.Unpack(packed, 0, unpacked, offset, count, type)).isEqualTo(packed.length);
    assertThat(unpacked).as(what).isEqualTo(spread);
  }

  private static void rounds(Intracomm w, long seed, int rounds, int most) {
    Random random = new Random(seed);
    for (int i = 0; i < rounds; i++) {
      Model model = random(random, 1 + random.nextInt(LEVELS));
      int count = 1 + random.nextInt(most);
      sentAndReceived(w, model, count, "seed " + seed + ", round " + i);
    }
  }

  @Test
  void typesOfTypesAreWhatALoopSays() {
    long seed = Seed.next();
    Variant.threads().run(2, w -> rounds(w, seed, 200, 5));
  }

  @Test
  void typesOfTypesInManyPieces() {
    long seed = Seed.next();
    Variant.threads().with("ring", 4096).with("eager", 100).run(2, w -> rounds(w, seed, 20, 400));
  }

  private static Datatype struct(int length, int at, Datatype first, Datatype second) {
    return Datatype.Struct(
        new int[] {length, 1}, new int[] {0, at}, new Datatype[] {first, second});
  }

  @Test
  void boundsThatWereSetCountInTypesOfTypes() {
    Datatype narrow = struct(1, 2, MPI.INT, MPI.UB);
    Datatype both = struct(1, 5, narrow, MPI.INT);
    assertThat(both.Size()).isEqualTo(2);
    assertThat(both.Ub()).isEqualTo(2);
    assertThat(both.Extent()).isEqualTo(2);
    assertThat(Datatype.Contiguous(3, narrow).Extent()).isEqualTo(6);
    Datatype dense = struct(1, 1, MPI.INT, MPI.UB);
    assertThat(struct(3, 5, dense, MPI.INT).Extent()).isEqualTo(3);
    assertThat(struct(1, 5, both, MPI.INT).Extent()).isEqualTo(2);
  }

  @Test
  void aPartOfAnElementIsNotCounted() {
    Status status = new Status(0, 0, 10, BaseType.PACKED.code(), -1, false);
    assertThat(status.Get_count(MPI.BYTE)).isEqualTo(10);
    assertThat(status.Get_count(MPI.SHORT)).isEqualTo(5);
    assertThat(status.Get_count(MPI.INT)).isEqualTo(MPI.UNDEFINED);
    assertThat(status.Get_count(MPI.DOUBLE2)).isEqualTo(MPI.UNDEFINED);
  }
}
