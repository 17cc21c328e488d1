// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.ffi;

import java.lang.foreign.MemoryLayout;
import java.lang.foreign.StructLayout;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A structure of C: the fields in order, with the padding that a 64-bit C compiler puts between
 * them. Immutable.
 *
 * <p>Offsets are meant to be kept in {@code static final} fields. {@link HeaderCheck} compares a
 * structure with what the C compiler says.
 */
public final class CStruct {
  private final String name;
  private final StructLayout layout;
  private final Map<String, Long> offsets;

  private CStruct(String name, StructLayout layout, Map<String, Long> offsets) {
    this.name = name;
    this.layout = layout;
    this.offsets = offsets;
  }

  /**
   * Starts a structure.
   *
   * @param name its type in C, such as {@code ucp_params_t} or {@code struct pollfd}
   * @return a builder
   */
  public static Builder named(String name) {
    return new Builder(name);
  }

  /**
   * The type in C.
   *
   * @return a name
   */
  public String name() {
    return name;
  }

  /**
   * The layout, padding included.
   *
   * @return a layout to allocate by
   */
  public StructLayout layout() {
    return layout;
  }

  /**
   * What {@code sizeof} gives in C.
   *
   * @return a number of bytes
   */
  public long sizeBytes() {
    return layout.byteSize();
  }

  /**
   * Where a field is.
   *
   * @param field its name in C
   * @return its distance from the start, in bytes
   */
  public long offset(String field) {
    Long offset = offsets.get(field);
    if (offset == null) {
      throw new IllegalArgumentException(name + " has no field " + field);
    }
    return offset;
  }

  /**
   * All fields.
   *
   * @return names in C and distances from the start, in order
   */
  public Map<String, Long> offsets() {
    return offsets;
  }

  @Override
  public String toString() {
    return name + layout;
  }

  /** Collects the fields of a structure. */
  public static final class Builder {
    private final String name;
    private final List<MemoryLayout> members = new ArrayList<>();
    private final Map<String, Long> offsets = new LinkedHashMap<>();
    private long end;
    private long alignment = 1;

    private Builder(String name) {
      this.name = name;
    }

    /**
     * Adds a field of 8 bits.
     *
     * @param field its name
     * @return this
     */
    public Builder int8(String field) {
      return add(field, ValueLayout.JAVA_BYTE);
    }

    /**
     * Adds a field of 16 bits.
     *
     * @param field its name
     * @return this
     */
    public Builder int16(String field) {
      return add(field, ValueLayout.JAVA_SHORT);
    }

    /**
     * Adds a field of 32 bits, such as an int or an enum.
     *
     * @param field its name
     * @return this
     */
    public Builder int32(String field) {
      return add(field, ValueLayout.JAVA_INT);
    }

    /**
     * Adds a field of 64 bits, such as a size_t.
     *
     * @param field its name
     * @return this
     */
    public Builder int64(String field) {
      return add(field, ValueLayout.JAVA_LONG);
    }

    /**
     * Adds a pointer.
     *
     * @param field its name
     * @return this
     */
    public Builder pointer(String field) {
      return add(field, ValueLayout.ADDRESS);
    }

    /**
     * Adds a double.
     *
     * @param field its name
     * @return this
     */
    public Builder float64(String field) {
      return add(field, ValueLayout.JAVA_DOUBLE);
    }

    /**
     * Adds an array of bytes.
     *
     * @param field its name
     * @param count how many
     * @return this
     */
    public Builder bytes(String field, long count) {
      return add(field, MemoryLayout.sequenceLayout(count, ValueLayout.JAVA_BYTE));
    }

    /**
     * Adds bytes that are aligned like 64-bit words, such as a structure whose fields are not
     * accessed.
     *
     * @param field its name
     * @param count how many, a multiple of 8
     * @return this
     */
    public Builder words(String field, long count) {
      return add(field, MemoryLayout.sequenceLayout(count / 8, ValueLayout.JAVA_LONG));
    }

    /**
     * Adds a structure inside this one. Its fields are named {@code outer.inner}.
     *
     * @param field its name
     * @param inner its type
     * @return this
     */
    public Builder struct(String field, CStruct inner) {
      add(field, inner.layout);
      long start = offsets.get(field);
      inner.offsets.forEach((key, value) -> offsets.put(field + "." + key, start + value));
      return this;
    }

    private Builder add(String field, MemoryLayout type) {
      pad(type.byteAlignment());
      if (offsets.put(field, end) != null) {
        throw new IllegalArgumentException(name + " has two fields " + field);
      }
      members.add(type.withName(field));
      end += type.byteSize();
      alignment = Math.max(alignment, type.byteAlignment());
      return this;
    }

    private void pad(long to) {
      long padding = -end & (to - 1);
      if (padding > 0) {
        members.add(MemoryLayout.paddingLayout(padding));
        end += padding;
      }
    }

    /**
     * Ends the structure.
     *
     * @return the structure, padded to a multiple of its alignment
     */
    public CStruct build() {
      pad(alignment);
      StructLayout layout =
          MemoryLayout.structLayout(members.toArray(MemoryLayout[]::new)).withName(name);
      return new CStruct(
          name, layout, java.util.Collections.unmodifiableMap(new LinkedHashMap<>(offsets)));
    }
  }
}
