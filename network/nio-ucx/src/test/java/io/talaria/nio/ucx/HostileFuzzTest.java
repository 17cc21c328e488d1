// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.ucx;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.talaria.nio.Reason;
import io.talaria.nio.transport.TransportException;
import java.nio.ByteBuffer;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Some thousand notes, bytes and messages at random, true to form for the most part; meanwhile the
 * connections of others go on.
 */
@Timeout(180)
class HostileFuzzTest {
  private static final int STREAMS = 150;
  private static final int INPUTS = 30;
  private static final int OTHERS_EVERY = 10;

  private final Random random = new Random(20261121);

  @Test
  void endsTheHostileStreamsAtMost() throws Exception {
    assumeTrue(Variant.possible(), "no UCX here");
    try (Variant variant = new Variant()) {
      for (int i = 0; i < STREAMS; i++) {
        Variant.Hostile hostile = variant.new Hostile();
        if (random.nextInt(3) > 0) {
          hostile.begin();
        }
        for (int k = 0; k < INPUTS; k++) {
          input(hostile);
          hostile.read();
          hostile.stream.write(ByteBuffer.allocate(random.nextInt(50)));
        }
        hostile.end();
        if (i % OTHERS_EVERY == 0) {
          variant.assertOthersGoOn();
        }
      }
      variant.assertOthersGoOn();
    }
  }

  private void input(Variant.Hostile hostile) {
    switch (random.nextInt(6)) {
      case 0, 1 -> hostile.message(note(), tag(hostile));
      case 2 -> hostile.message(noise(random.nextInt(10) == 0 ? 50_000 : 40), tag(hostile));
      case 3 -> hostile.stream(noise(random.nextInt(20) == 0 ? 200_000 : 100));
      case 4 -> tell(hostile, message(tag(hostile)));
      default -> tell(hostile, noise(20));
    }
  }

  private static void tell(Variant.Hostile hostile, ByteBuffer message) {
    try {
      hostile.tell(message);
    } catch (TransportException e) {
      assertThat(e.reason()).isEqualTo(Reason.PROTOCOL);
    }
  }

  private ByteBuffer note() {
    return Variant.longs(random.nextInt(7) - 1, number());
  }

  private ByteBuffer message(long token) {
    byte type = (byte) (1 + random.nextInt(4)); // none that ends it: the test does that
    return type <= UcxMessages.ESTABLISHED
        ? UcxMessages.window(type, token, (int) number())
        : UcxMessages.about(type, token);
  }

  private long tag(Variant.Hostile hostile) {
    return random.nextInt(4) == 0 ? random.nextLong() : hostile.token;
  }

  private long number() {
    return switch (random.nextInt(4)) {
      case 0 -> random.nextInt(1000);
      case 1 -> random.nextInt();
      case 2 -> random.nextLong();
      default -> 1L << random.nextInt(64);
    };
  }

  private ByteBuffer noise(int most) {
    byte[] bytes = new byte[random.nextInt(most)];
    random.nextBytes(bytes);
    return ByteBuffer.wrap(bytes);
  }
}
