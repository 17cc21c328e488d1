// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging;

import java.util.List;
import java.util.Optional;

/** What tests send. */
final class Messages {
  private Messages() {}

  record Pair(long first, long second) {}

  record Text(String text) {}

  @SuppressWarnings("ArrayRecordComponent") // compared by what is in it
  record Bytes(byte[] bytes) {}

  record Response(long value) {}

  record Unknown(int value) {}

  @SuppressWarnings("ArrayRecordComponent") // compared by what is in it
  record Tagged(int thread, int sequence, byte[] rest) {}

  record Rich(String name, List<String> tags, Optional<Pair> pair, @Varint int small) {}

  /** Something that can be sent and received without an object of its own. */
  static final class Price {
    long item;
    double value;

    static final class PriceCodec implements Codec<Price> {
      @Override
      public int size(Price price) {
        return 16;
      }

      @Override
      public void write(Price price, MessageWriter out) {
        out.putLong(price.item);
        out.putDouble(price.value);
      }

      @Override
      public Price read(MessageReader in) {
        return readInto(new Price(), in);
      }

      @Override
      public Price readInto(Price price, MessageReader in) {
        price.item = in.getLong();
        price.value = in.getDouble();
        return price;
      }
    }
  }
}
