// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.messages.objects;

import io.talaria.messaging.Codec;
import io.talaria.messaging.MessageReader;
import io.talaria.messaging.MessageWriter;
import java.util.function.Supplier;

/** An object that is filled and sent, or received, again and again. For one thread. */
public abstract class Mutable {
  private final long[] fields;

  private Mutable(int count) {
    fields = new long[count];
  }

  /** As {@link Two}. */
  public static final class OfTwo extends Mutable {
    /** Creates one whose fields are 0. */
    public OfTwo() {
      super(2);
    }
  }

  /** As {@link Eight}. */
  public static final class OfEight extends Mutable {
    /** Creates one whose fields are 0. */
    public OfEight() {
      super(8);
    }
  }

  /** One of a size. */
  public static Mutable of(int sizeBytes) {
    return sizeBytes == Sizes.SMALL ? new OfTwo() : new OfEight();
  }

  /** Fills it as the record of that number. */
  public final Mutable fill(long number) {
    for (int i = 0; i < fields.length; i++) {
      fields[i] = fields.length == 2 ? number + 2 * number * i : number + i;
    }
    return this;
  }

  /** Returns the number that it was filled with. */
  public final long number() {
    return fields[0];
  }

  /** Returns what its fields add up to. */
  public final long sum() {
    long sum = 0;
    for (long each : fields) {
      sum += each;
    }
    return sum;
  }

  /** Writes the fields, and reads them. */
  public static <T extends Mutable> Codec<T> codec(Supplier<T> first) {
    return new Codec<>() {
      @Override
      public int size(T message) {
        return message.fields().length * Long.BYTES;
      }

      @Override
      public void write(T message, MessageWriter out) {
        for (long each : message.fields()) {
          out.putLong(each);
        }
      }

      @Override
      public T read(MessageReader in) {
        return readInto(first.get(), in);
      }

      @Override
      public T readInto(T old, MessageReader in) {
        long[] fields = old.fields();
        for (int i = 0; i < fields.length; i++) {
          fields[i] = in.getLong();
        }
        return old;
      }
    };
  }

  /** The fields themselves. */
  final long[] fields() {
    return fields;
  }
}
