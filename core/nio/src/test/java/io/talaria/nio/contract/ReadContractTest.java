// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.contract;

import static io.talaria.nio.contract.Bytes.bytes;
import static io.talaria.nio.contract.Bytes.read;
import static io.talaria.nio.contract.Bytes.readFully;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.SocketException;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.ClosedChannelException;
import org.junit.jupiter.api.Test;

/** What comes out of a connection, into which buffers. */
class ReadContractTest extends Contract {
  ReadContractTest(Variant variant) {
    super(variant);
  }

  /** A pair at whose server 100 bytes have arrived. */
  private Pair withArrived(int n) throws Exception {
    Pair pair = pair();
    pair.client.write(bytes(n, 1));
    Await.readable(pair.server);
    return pair;
  }

  @Test
  void aReadTakesWhatIsThereAndNotMore() throws Exception {
    Pair pair = withArrived(50);
    ByteBuffer in = ByteBuffer.allocate(200);
    assertThat(pair.server.read(in)).isEqualTo(50);
    assertThat(in.position()).isEqualTo(50);
    assertThat(in.limit()).isEqualTo(200);
    assertThat(in.flip()).isEqualTo(bytes(50, 1));
  }

  @Test
  void aReadFillsNoMoreThanTheBuffersRoom() throws Exception {
    Pair pair = withArrived(50);
    ByteBuffer in = ByteBuffer.allocate(200);
    in.position(20).limit(40);
    assertThat(pair.server.read(in)).isEqualTo(20);
    assertThat(in.position()).isEqualTo(40);
    in.limit(200).position(100);
    assertThat(pair.server.read(in)).isEqualTo(30);
    assertThat(in.position()).isEqualTo(130);
    ByteBuffer all = bytes(50, 1);
    assertThat(in.slice(20, 20)).isEqualTo(all.slice(0, 20));
    assertThat(in.slice(100, 30)).isEqualTo(all.slice(20, 30));
    assertThat(in.get(19)).isZero();
    assertThat(in.get(130)).isZero();
  }

  @Test
  void bytesComeOneByOneInOrder() throws Exception {
    Pair pair = withArrived(300);
    ByteBuffer all = bytes(300, 1);
    ByteBuffer one = ByteBuffer.allocate(1);
    for (int i = 0; i < 300; i++) {
      assertThat(pair.server.read(one.clear())).isEqualTo(1);
      assertThat(one.get(0)).isEqualTo(all.get(i));
    }
  }

  @Test
  void aDirectBufferIsFilled() throws Exception {
    Pair pair = withArrived(50);
    assertThat(readFully(pair.server, ByteBuffer.allocateDirect(50))).isEqualTo(bytes(50, 1));
  }

  @Test
  void aSliceIsFilledWhereItStands() throws Exception {
    Pair pair = withArrived(50);
    for (ByteBuffer whole : Bytes.of(ByteBuffer.allocate(100), ByteBuffer.allocateDirect(100))) {
      ByteBuffer slice = whole.slice(10, 25);
      readFully(pair.server, slice);
      assertThat(whole.position()).isZero();
      assertThat(whole.get(9)).isZero();
      assertThat(whole.get(35)).isZero();
      assertThat(whole.slice(10, 25)).isEqualTo(slice);
    }
  }

  @Test
  void aDuplicateSharesTheBytesAndNotThePosition() throws Exception {
    Pair pair = withArrived(50);
    ByteBuffer whole = ByteBuffer.allocate(50);
    readFully(pair.server, whole.duplicate());
    assertThat(whole.position()).isZero();
    assertThat(whole).isEqualTo(bytes(50, 1));
  }

  @Test
  void theByteOrderOfABufferMeansNothing() throws Exception {
    Pair pair = withArrived(50);
    ByteBuffer in = ByteBuffer.allocate(50).order(ByteOrder.LITTLE_ENDIAN);
    assertThat(readFully(pair.server, in)).isEqualTo(bytes(50, 1));
  }

  @Test
  void anArrayWithAnOffsetIsFilledBehindIt() throws Exception {
    Pair pair = withArrived(50);
    byte[] array = new byte[100];
    readFully(pair.server, ByteBuffer.wrap(array, 25, 50));
    assertThat(ByteBuffer.wrap(array, 25, 50)).isEqualTo(bytes(50, 1));
    assertThat(array[24]).isZero();
    assertThat(array[75]).isZero();
  }

  @Test
  void anEmptyDestinationTakesNothing() throws Exception {
    Pair pair = withArrived(50);
    assertThat(pair.server.read(ByteBuffer.allocate(0))).isZero();
    assertThat(readFully(pair.server, 50)).isEqualTo(bytes(50, 1));
  }

  @Test
  void anEmptyDestinationDoesNotWait() throws Exception {
    Pair pair = pair();
    assertThat(pair.client.read(ByteBuffer.allocate(0))).isZero();
    assertThat(pair.client.read(Bytes.of(ByteBuffer.allocate(0), ByteBuffer.allocate(0)))).isZero();
    assertThat(pair.client.read(Bytes.of())).isZero();
  }

  @Test
  void anEmptyDestinationGetsZeroAtTheEndToo() throws Exception {
    Pair pair = pair();
    pair.client.close();
    assertThat(read(pair.server)).isEqualTo(-1);
    assertThat(pair.server.read(ByteBuffer.allocate(0))).isZero();
    assertThat(pair.server.read(Bytes.of())).isZero();
  }

  @Test
  void aReadOnlyDestinationIsRefusedAndTakesNothing() throws Exception {
    Pair pair = withArrived(50);
    ByteBuffer readOnly = ByteBuffer.allocate(10).asReadOnlyBuffer();
    assertThatThrownBy(() -> pair.server.read(readOnly))
        .isInstanceOf(IllegalArgumentException.class);
    assertThat(readFully(pair.server, 50)).isEqualTo(bytes(50, 1));
  }

  @Test
  void aReadOnlyDestinationAmongOthersIsRefusedAndTakesNothing() throws Exception {
    Pair pair = withArrived(50);
    ByteBuffer readOnly = ByteBuffer.allocate(10).asReadOnlyBuffer();
    assertThatThrownBy(() -> pair.server.read(Bytes.of(ByteBuffer.allocate(60), readOnly)))
        .isInstanceOf(IllegalArgumentException.class);
    assertThat(readFully(pair.server, 50)).isEqualTo(bytes(50, 1));
  }

  @Test
  void anEmptyReadOnlyDestinationIsRefusedToo() throws Exception {
    Pair pair = withArrived(5);
    ByteBuffer readOnly = ByteBuffer.allocate(0).asReadOnlyBuffer();
    assertThatThrownBy(() -> pair.server.read(readOnly))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void aReadOnlyDestinationIsNotLookedAtOnceTheInputIsShut() throws Exception {
    Pair pair = withArrived(5);
    ByteBuffer readOnly = ByteBuffer.allocate(10).asReadOnlyBuffer();
    pair.server.shutdownInput();
    assertThat(pair.server.read(readOnly)).isEqualTo(-1);
    assertThat(pair.server.read(Bytes.of(ByteBuffer.allocate(1), readOnly))).isEqualTo(-1);
  }

  @Test
  void aReadOnlyDestinationIsNotLookedAtOnceAResetWasRead() throws Exception {
    Pair pair = pair();
    pair.client.setOption(StandardSocketOptions.SO_LINGER, 0);
    pair.client.close();
    ByteBuffer readOnly = ByteBuffer.allocate(10).asReadOnlyBuffer();
    assertThatThrownBy(() -> pair.server.read(ByteBuffer.allocate(1)))
        .isInstanceOf(SocketException.class);
    assertThatThrownBy(() -> pair.server.read(readOnly)).isInstanceOf(SocketException.class);
    assertThatThrownBy(() -> pair.server.read(Bytes.of(ByteBuffer.allocate(1), readOnly)))
        .isInstanceOf(SocketException.class);
  }

  @Test
  void noDestinationIsRefused() throws Exception {
    Pair pair = withArrived(5);
    assertThatThrownBy(() -> pair.server.read((ByteBuffer) null))
        .isInstanceOf(NullPointerException.class);
    assertThatThrownBy(() -> pair.server.read((ByteBuffer[]) null))
        .isInstanceOf(NullPointerException.class);
    assertThatThrownBy(() -> pair.server.read(Bytes.of(null, ByteBuffer.allocate(1))))
        .isInstanceOf(NullPointerException.class);
    assertThat(readFully(pair.server, 5)).isEqualTo(bytes(5, 1));
  }

  @Test
  void badRangesOfDestinationsAreRefused() throws Exception {
    Pair pair = withArrived(5);
    ByteBuffer[] two = Bytes.of(ByteBuffer.allocate(1), ByteBuffer.allocate(1));
    int[][] bad = {{-1, 1}, {0, 3}, {1, 2}, {2, 1}, {3, 0}, {0, -1}, {1, Integer.MAX_VALUE}};
    for (int[] range : bad) {
      assertThatThrownBy(() -> pair.server.read(two, range[0], range[1]))
          .as("%d, %d", range[0], range[1])
          .isInstanceOf(IndexOutOfBoundsException.class);
    }
    assertThat(readFully(pair.server, 5)).isEqualTo(bytes(5, 1));
  }

  @Test
  void anEmptyRangeOfDestinationsTakesNothing() throws Exception {
    Pair pair = withArrived(5);
    ByteBuffer[] two = Bytes.of(ByteBuffer.allocate(1), ByteBuffer.allocate(1));
    assertThat(pair.server.read(two, 1, 0)).isZero();
    assertThat(pair.server.read(two, 2, 0)).isZero();
    assertThat(two[1].position()).isZero();
  }

  @Test
  void badArgumentsOfAClosedChannelAreRefused() throws Exception {
    Pair pair = pair();
    pair.client.close();
    ByteBuffer[] two = Bytes.of(ByteBuffer.allocate(1), ByteBuffer.allocate(1));
    assertThatThrownBy(() -> pair.client.read((ByteBuffer) null))
        .isInstanceOf(NullPointerException.class);
    assertThatThrownBy(() -> pair.client.read(two, 0, 3))
        .isInstanceOf(IndexOutOfBoundsException.class);
  }

  @Test
  void aClosedChannelRefusesReads() throws Exception {
    Pair pair = pair();
    pair.client.close();
    assertThatThrownBy(() -> read(pair.client)).isExactlyInstanceOf(ClosedChannelException.class);
    assertThatThrownBy(() -> pair.client.read(ByteBuffer.allocate(0)))
        .isInstanceOf(ClosedChannelException.class);
    assertThatThrownBy(() -> pair.client.read(Bytes.of(ByteBuffer.allocate(1))))
        .isInstanceOf(ClosedChannelException.class);
  }

  @Test
  void scatteredReadsFillOneBufferAfterTheOther() throws Exception {
    Pair pair = withArrived(100);
    ByteBuffer[] into =
        Bytes.of(ByteBuffer.allocate(3), ByteBuffer.allocateDirect(60), ByteBuffer.allocate(50));
    ByteBuffer got = ByteBuffer.allocate(100);
    long n = 0;
    while (n < 100) {
      n += pair.server.read(into);
    }
    assertThat(into[0].hasRemaining()).isFalse();
    assertThat(into[1].hasRemaining()).isFalse();
    assertThat(into[2].position()).isEqualTo(37);
    for (ByteBuffer part : into) {
      got.put(part.flip());
    }
    assertThat(got.flip()).isEqualTo(bytes(100, 1));
  }

  @Test
  void aScatteredReadTakesAllThatHasArrivedTogether() throws Exception {
    Pair pair = withArrived(100);
    ByteBuffer[] into = Bytes.of(ByteBuffer.allocate(40), ByteBuffer.allocate(80));
    assertThat(pair.server.read(into)).isEqualTo(100);
  }

  @Test
  void aScatteredReadPassesOverFullBuffers() throws Exception {
    Pair pair = withArrived(10);
    ByteBuffer full = ByteBuffer.allocate(5).position(5);
    ByteBuffer[] into = Bytes.of(ByteBuffer.allocate(0), full, ByteBuffer.allocate(10), full);
    long n = 0;
    while (n < 10) {
      n += pair.server.read(into);
    }
    assertThat(into[2].flip()).isEqualTo(bytes(10, 1));
  }

  @Test
  void aScatteredReadKeepsToItsRange() throws Exception {
    Pair pair = withArrived(10);
    ByteBuffer[] into =
        Bytes.of(ByteBuffer.allocate(4), ByteBuffer.allocate(4), ByteBuffer.allocate(4), null);
    assertThat(pair.server.read(into, 1, 1)).isEqualTo(4);
    assertThat(into[0].position()).isZero();
    assertThat(into[1].flip()).isEqualTo(bytes(10, 1).limit(4));
    assertThat(into[2].position()).isZero();
  }

  @Test
  void manyBuffersAreMoreThanTheSystemTakesAtOnce() throws Exception {
    Pair pair = pair();
    ByteBuffer[] out = new ByteBuffer[1500];
    ByteBuffer[] in = new ByteBuffer[1500];
    for (int i = 0; i < out.length; i++) {
      out[i] = bytes(2, i);
      in[i] = ByteBuffer.allocate(2);
    }
    long sent = 0;
    while (sent < 3000) {
      sent += pair.client.write(out);
    }
    for (int from = 0; from < in.length; ) {
      assertThat(pair.server.read(in, from, in.length - from)).isPositive();
      while (from < in.length && !in[from].hasRemaining()) {
        from++;
      }
    }
    for (int i = 0; i < in.length; i++) {
      assertThat(in[i].flip()).isEqualTo(bytes(2, i));
    }
  }

  @Test
  void theSameBufferMayStandTwiceInAScatteredRead() throws Exception {
    Pair pair = withArrived(10);
    ByteBuffer one = ByteBuffer.allocate(4);
    // What it holds is nobody's promise; that it ends is.
    long n = pair.server.read(Bytes.of(one, ByteBuffer.allocate(10)));
    assertThat(n).isEqualTo(10);
  }

  @Test
  void aNonBlockingReadOfNothingIsZero() throws Exception {
    Pair pair = pair();
    pair.configureBlocking(false);
    for (int i = 0; i < 200; i++) {
      assertThat(read(pair.client)).isZero();
      assertThat(pair.server.read(Bytes.of(ByteBuffer.allocate(1)))).isZero();
    }
  }

  @Test
  void aBlockingReadWaitsForTheFirstByte() throws Exception {
    Pair pair = pair();
    Doing<Integer> reader = Doing.start(() -> read(pair.server)).whenWaiting();
    pair.client.write(bytes(1, 1));
    assertThat(reader.result()).isEqualTo(1);
  }

  @Test
  void aBlockingScatteredReadWaitsForTheFirstByte() throws Exception {
    Pair pair = pair();
    Doing<Long> reader =
        Doing.start(
                () -> pair.server.read(Bytes.of(ByteBuffer.allocate(0), ByteBuffer.allocate(9))))
            .whenWaiting();
    pair.client.write(bytes(1, 1));
    assertThat(reader.result()).isEqualTo(1);
  }

  @Test
  void readersOfOneChannelTakeTurns() throws Exception {
    Pair pair = pair();
    Doing<Integer> one = Doing.start(() -> pair.server.read(ByteBuffer.allocate(1))).whenWaiting();
    Doing<Integer> two = Doing.start(() -> pair.server.read(ByteBuffer.allocate(1))).whenWaiting();
    pair.client.write(bytes(2, 1));
    assertThat(one.result()).isEqualTo(1);
    assertThat(two.result()).isEqualTo(1);
  }

  @Test
  void aReadAndAWriteOfOneChannelGoOnTogether() throws Exception {
    Pair pair = pair();
    Doing<Integer> reader = Doing.start(() -> read(pair.server)).whenWaiting();
    assertThat(pair.server.write(bytes(100, 2))).isEqualTo(100);
    assertThat(readFully(pair.client, 100)).isEqualTo(bytes(100, 2));
    pair.client.write(bytes(1, 1));
    assertThat(reader.result()).isEqualTo(1);
  }

  @Test
  void aVirtualOrPlatformThreadMayReadWhatTheOtherWrote() throws Exception {
    Pair pair = pair();
    boolean virtual = Runtime.version().feature() >= 21;
    for (int i = 0; i < 5; i++) {
      Doing<ByteBuffer> reader =
          virtual
              ? Doing.startVirtual(() -> readFully(pair.server, 1000))
              : Doing.start(() -> readFully(pair.server, 1000));
      pair.client.write(bytes(1000, i));
      assertThat(reader.result()).isEqualTo(bytes(1000, i));
    }
  }

  @Test
  void pingPongsKeepTheirOrder() throws Exception {
    Pair pair = pair();
    Doing<Integer> echo =
        Doing.start(
            () -> {
              ByteBuffer in = ByteBuffer.allocate(16);
              int n = 0;
              while (pair.server.read(in.clear()) >= 0) {
                n += pair.server.write(in.flip());
              }
              return n;
            });
    for (int i = 0; i < 300; i++) {
      pair.client.write(bytes(16, i));
      assertThat(readFully(pair.client, 16)).isEqualTo(bytes(16, i));
    }
    pair.client.shutdownOutput();
    assertThat(echo.result()).isEqualTo(300 * 16);
  }

  @Test
  void whatTheServerSaysFirstArrives() throws Exception {
    Pair pair = pair();
    pair.server.write(bytes(70_000, 1));
    assertThat(readFully(pair.client, 70_000)).isEqualTo(bytes(70_000, 1));
  }

  @Test
  void aScatteringReadThatHasWaitedTakesAllThatHasArrivedTogether() throws Exception {
    Pair pair = pair();
    ByteBuffer[] into = {ByteBuffer.allocate(4), ByteBuffer.allocate(9)};
    Doing<Long> reader = Doing.start(() -> pair.server.read(into)).whenWaiting();
    pair.client.write(bytes(10, 1));
    assertThat(reader.result()).isEqualTo(10);
    ByteBuffer all = bytes(10, 1);
    assertThat(into[0].flip()).isEqualTo(all.slice(0, 4));
    assertThat(into[1].flip()).isEqualTo(all.slice(4, 6));
  }
}
