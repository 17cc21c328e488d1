// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package mpi;

import io.talaria.mpj.datatype.BaseType;
import io.talaria.mpj.datatype.Layout;
import io.talaria.mpj.datatype.LayoutBuilder;
import java.util.function.Consumer;

/**
 * What elements of a buffer a message has: a base type, or a layout put together of others. One has
 * one base type; displacements and extents count its elements, in {@link #Hvector} and {@link
 * #Hindexed} too.
 */
public class Datatype implements Freeable {
  private final Layout layout;
  private final String name;
  private boolean committed;
  private boolean freed;

  Datatype(Layout layout, String name, boolean committed) {
    this.layout = layout;
    this.name = name;
    this.committed = committed;
  }

  static Datatype basic(BaseType base, int size, String name) {
    return new Datatype(Layout.basic(base, size), name, true);
  }

  /** A type for what a reduction hands to the program's function. */
  static Datatype of(Layout layout) {
    if (layout.size() == 1) {
      return MPI.ofBase(layout.base());
    }
    return new Datatype(layout, layout.size() + " of " + layout.base(), true);
  }

  Layout layout() {
    return layout;
  }

  /** The layout, for communication. */
  Layout committed() {
    if (freed) {
      throw new MPIException(MPIException.ERR_TYPE, "datatype " + name + " was freed");
    }
    if (!committed) {
      throw new MPIException(
          MPIException.ERR_TYPE, "datatype " + name + " is not committed: call Commit() first");
    }
    return layout;
  }

  private static Layout part(Datatype type) {
    if (type == null) {
      throw new MPIException(MPIException.ERR_TYPE, "datatype is null");
    }
    if (type.freed) {
      throw new MPIException(MPIException.ERR_TYPE, "datatype " + type.name + " was freed");
    }
    return type.layout;
  }

  private static void notNegative(String what, int value) {
    if (value < 0) {
      throw new MPIException(MPIException.ERR_COUNT, what + " " + value + ": 0 or more is allowed");
    }
  }

  /** Base elements from the start of one to that of the next. */
  public int Extent() throws MPIException {
    return layout.extent();
  }

  /** Base elements in it. */
  public int Size() throws MPIException {
    return layout.size();
  }

  /** Lower bound, in base elements. */
  public int Lb() throws MPIException {
    return layout.lower();
  }

  /** Upper bound, in base elements. */
  public int Ub() throws MPIException {
    return layout.upper();
  }

  /** Makes it ready for communication. */
  public void Commit() throws MPIException {
    committed = true;
  }

  /** Bytes of its base elements. */
  public int getByteSize() {
    return bytes(1);
  }

  /** Bytes of the base elements of some. */
  int bytes(int count) {
    long each = (long) layout.size() * layout.base().bytes();
    if (count != 0 && each > Integer.MAX_VALUE / count) {
      throw new MPIException(
          MPIException.ERR_COUNT,
          count
              + " of "
              + name
              + " with "
              + each
              + " bytes each: "
              + Integer.MAX_VALUE
              + " bytes are the most");
    }
    return (int) (count * each);
  }

  /** Gives it back. */
  @Override
  public void free() throws MPIException {
    freed = true;
  }

  /** Gives it back. */
  public void Free() throws MPIException {
    freed = true;
  }

  /**
   * Some one after the other.
   *
   * @param count how many
   * @param oldtype of what
   */
  public static Datatype Contiguous(int count, Datatype oldtype) throws MPIException {
    notNegative("count", count);
    Layout part = part(oldtype);
    return made("Contiguous", part.base(), b -> b.add(part, count, 0));
  }

  /**
   * Blocks at equal distances.
   *
   * @param count blocks
   * @param blocklength of each
   * @param stride between the starts of two, in extents of the old type
   * @param oldtype of what
   */
  public static Datatype Vector(int count, int blocklength, int stride, Datatype oldtype)
      throws MPIException {
    return hvector(count, blocklength, (long) stride * part(oldtype).extent(), oldtype, "Vector");
  }

  /**
   * Blocks at equal distances.
   *
   * @param count blocks
   * @param blocklength of each
   * @param stride between the starts of two, in base elements
   * @param oldtype of what
   */
  public static Datatype Hvector(int count, int blocklength, int stride, Datatype oldtype)
      throws MPIException {
    return hvector(count, blocklength, stride, oldtype, "Hvector");
  }

  private static Datatype hvector(
      int count, int blocklength, long stride, Datatype oldtype, String name) {
    notNegative("count", count);
    notNegative("blocklength", blocklength);
    Layout part = part(oldtype);
    return made(
        name,
        part.base(),
        b -> {
          for (int i = 0; i < count; i++) {
            b.add(part, blocklength, Math.toIntExact(Math.multiplyExact(i, stride)));
          }
        });
  }

  /**
   * Blocks at places of their own.
   *
   * @param blocklengths of each
   * @param displacements of each, in extents of the old type
   * @param oldtype of what
   */
  public static Datatype Indexed(int[] blocklengths, int[] displacements, Datatype oldtype)
      throws MPIException {
    return indexed(blocklengths, displacements, part(oldtype).extent(), oldtype, "Indexed");
  }

  /**
   * Blocks at places of their own.
   *
   * @param blocklengths of each
   * @param displacements of each, in base elements
   * @param oldtype of what
   */
  public static Datatype Hindexed(int[] blocklengths, int[] displacements, Datatype oldtype)
      throws MPIException {
    return indexed(blocklengths, displacements, 1, oldtype, "Hindexed");
  }

  private static void given(int[] blocklengths, int[] displacements) {
    Buffers.given(blocklengths, "blocklengths");
    Buffers.given(displacements, "displacements");
  }

  private static void sameLength(String what, int a, int b) {
    if (a != b) {
      throw new MPIException(
          MPIException.ERR_ARG, "blocklengths has " + a + " elements, " + what + " " + b);
    }
  }

  private static Datatype indexed(
      int[] lengths, int[] displacements, int unit, Datatype oldtype, String name) {
    given(lengths, displacements);
    sameLength("displacements", lengths.length, displacements.length);
    Layout part = part(oldtype);
    return made(
        name,
        part.base(),
        b -> {
          for (int i = 0; i < lengths.length; i++) {
            notNegative("blocklength", lengths[i]);
            b.add(part, lengths[i], Math.multiplyExact(displacements[i], unit));
          }
        });
  }

  /**
   * Blocks of different types, all of one base type; {@link MPI#LB} and {@link MPI#UB} among them,
   * or in one of them, set the bounds.
   *
   * @param blocklengths of each
   * @param displacements of each, in base elements
   * @param types of each
   */
  public static Datatype Struct(int[] blocklengths, int[] displacements, Datatype[] types)
      throws MPIException {
    given(blocklengths, displacements);
    Buffers.given(types, "types");
    sameLength("displacements", blocklengths.length, displacements.length);
    sameLength("types", blocklengths.length, types.length);
    BaseType base = null;
    for (Datatype type : types) {
      BaseType its = part(type).base();
      if (its != BaseType.NULL && base != null && its != base) {
        throw new MPIException(
            MPIException.ERR_TYPE,
            "types of base " + base + " and " + its + ": one base type is allowed");
      }
      base = its == BaseType.NULL ? base : its;
    }
    // One without elements goes with any buffer.
    return made(
        "Struct",
        base == null ? BaseType.NULL : base,
        b -> {
          for (int i = 0; i < types.length; i++) {
            notNegative("blocklength", blocklengths[i]);
            if (types[i] == MPI.LB) {
              b.lower(displacements[i]);
            } else if (types[i] == MPI.UB) {
              b.upper(displacements[i]);
            } else {
              b.add(types[i].layout, blocklengths[i], displacements[i]);
            }
          }
        });
  }

  private static Datatype made(String name, BaseType base, Consumer<LayoutBuilder> parts) {
    try {
      LayoutBuilder b = new LayoutBuilder(base);
      parts.accept(b);
      return new Datatype(b.build(), name, false);
    } catch (ArithmeticException e) {
      throw new MPIException(
          MPIException.ERR_ARG,
          name
              + ": elements of a datatype, their places and its extent are numbers of up to "
              + Integer.MAX_VALUE,
          e);
    }
  }

  @Override
  public String toString() {
    return name;
  }
}
