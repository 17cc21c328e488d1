// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.it.harness.Child;
import io.talaria.it.harness.Flavour;
import io.talaria.it.harness.Forwarder;
import io.talaria.it.harness.Forwarder.Tamper;
import io.talaria.it.harness.Lab;
import io.talaria.it.kit.Console;
import io.talaria.it.programs.StreamClient;
import io.talaria.it.programs.StreamServer;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** The streams that all other tests rely on notice whatever happens to a byte on its way. */
class HarnessTest {
  private static final long SPOT = 1_000_000;

  @RegisterExtension final Lab lab = new Lab();

  static Stream<Arguments> spoilers() {
    return Stream.of(
        spoiler("a bit flipped", HarnessTest::flip, "expected"),
        spoiler("two bytes exchanged", HarnessTest::exchange, "expected"),
        spoiler("bytes lost", HarnessTest::lose, "these are its bytes from position"),
        spoiler("bytes repeated", HarnessTest::repeat, "these are its bytes from position"),
        spoiler("foreign bytes", HarnessTest::insert, "foreign bytes"),
        spoiler("the start changed", HarnessTest::begin, "it is another's, or foreign bytes"));
  }

  private static Arguments spoiler(String name, Tamper tamper, String complaint) {
    return Arguments.of(name, tamper, complaint);
  }

  /** A place in the chunk with 1000 bytes behind it, wherever the kernel has cut; -1 if none. */
  private static int spot(int length, long position) {
    long from = Math.max(position, SPOT);
    long at = from - position;
    return at + 1000 < length ? (int) at : -1;
  }

  private static int flip(byte[] chunk, int length, long position) {
    if (position <= SPOT && position + length > SPOT) {
      chunk[(int) (SPOT - position)] ^= 1;
    }
    return length;
  }

  private static int exchange(byte[] chunk, int length, long position) {
    int at = spot(length, position);
    if (at >= 0) {
      byte first = chunk[at];
      chunk[at] = chunk[at + 9];
      chunk[at + 9] = first;
    }
    return length;
  }

  private static int lose(byte[] chunk, int length, long position) {
    return spot(length, position) < 0 ? length : length - 500;
  }

  private static int repeat(byte[] chunk, int length, long position) {
    if (spot(length, position) >= 0) {
      System.arraycopy(chunk, 0, chunk, 400, length - 400);
    }
    return length;
  }

  private static int insert(byte[] chunk, int length, long position) {
    if (spot(length, position) >= 0) {
      java.util.Arrays.fill(chunk, length - 16, length, (byte) 7);
    }
    return length;
  }

  private static int begin(byte[] chunk, int length, long position) {
    if (position == 0) {
      chunk[0] ^= 1;
    }
    return length;
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("spoilers")
  @Timeout(value = 60, unit = TimeUnit.SECONDS)
  void noticesWhatHappensToBytes(String name, Tamper tamper, String complaint) throws Exception {
    Child server =
        lab.child(Flavour.PLAIN, StreamServer.class)
            .arg("ports", name.equals("the start changed") ? "known" : "any")
            .arg("max", 4 << 20)
            .arg("min", 4 << 20)
            .start();
    InetSocketAddress target = new InetSocketAddress("127.0.0.1", server.await("listening").port());
    try (Forwarder forwarder = new Forwarder("127.0.0.1", 0, target, tamper)) {
      lab.child(Flavour.PLAIN, StreamClient.class)
          .arg("ports", "any")
          .arg("port", forwarder.port())
          .arg("max", 4 << 20)
          .arg("min", 4 << 20)
          .start();
      assertThat(server.await("failed").text("what")).contains("IllegalState");
      assertThat(server.awaitAnyExit()).isEqualTo(Console.FAILED);
      assertThat(server.errorText()).contains(complaint);
    }
  }
}
