// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.fuzz;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.talaria.nio.negotiation.Frames;
import io.talaria.nio.negotiation.Upgradable;
import java.io.IOException;
import java.lang.reflect.Field;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.util.Random;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.Timeout.ThreadMode;
import org.junit.jupiter.api.io.TempDir;

/**
 * A process that is killed, played by one that can stop between any two steps: what it leaves
 * behind decides how the connection ends for its peer, and never how late the peer looks.
 */
@Timeout(value = 120, threadMode = ThreadMode.SEPARATE_THREAD)
class KilledPeerTest {
  /** Longer than anybody waits for the end of a control connection whose session has ended. */
  private static final long LONG_NS = TimeUnit.MILLISECONDS.toNanos(2500);

  private static final long DEADLINE_NS = TimeUnit.SECONDS.toNanos(30);
  private static final int CHUNK = 64 << 10;

  /** More than is taken from TCP before the program reads it. */
  private static final int MUCH = 3 * CHUNK;

  private static final int SOME = 100;

  @TempDir Path dir;

  private Variant variant;
  private Foe peer;
  private SocketChannel survivor;

  @BeforeEach
  void open() throws Exception {
    variant = new Variant(dir, 1);
    peer = variant.foe(true);
    peer.answerMs = 20_000;
    survivor = peer.meet(new Random(1));
  }

  @AfterEach
  void close() throws Exception {
    peer.close();
    survivor.close();
    variant.close();
  }

  private static void await(BooleanSupplier done) {
    long start = System.nanoTime();
    while (!done.getAsBoolean()) {
      assertThat(System.nanoTime() - start).as("waited ns").isLessThan(DEADLINE_NS);
      LockSupport.parkNanos(1_000_000);
    }
  }

  private static void waitLong() {
    long start = System.nanoTime();
    while (System.nanoTime() - start < LONG_NS) {
      LockSupport.parkNanos(LONG_NS);
    }
  }

  /** Both agree; the survivor's output switches, the peer's does not yet. */
  private void establish() {
    peer.shared.agree();
    await(peer.shared::victimAgrees);
    peer.say(Frames.transport(peer.shared.accepted()));
    await(peer.shared::victimSwitched);
  }

  /** The peer puts so many bytes on TCP, as many as there is room for. */
  private long send(long most) throws IOException {
    ByteBuffer bytes = ByteBuffer.allocate(CHUNK);
    long sent = 0;
    int n;
    do {
      n = peer.wire.write(bytes.clear().limit((int) Math.min(CHUNK, most - sent)));
      sent += n;
    } while (n > 0);
    return sent;
  }

  /** The kernel closes what the peer had open. */
  private void die() throws IOException {
    peer.session.close();
    peer.wire.close();
  }

  private long readAll() throws IOException {
    ByteBuffer into = ByteBuffer.allocate(CHUNK);
    long read = 0;
    for (int n = survivor.read(into); n >= 0; n = survivor.read(into.clear())) {
      read += n;
    }
    return read;
  }

  private void assertReset() {
    assertThatThrownBy(() -> survivor.read(ByteBuffer.allocate(1)))
        .isInstanceOf(IOException.class)
        .hasMessage("Connection reset");
  }

  private void assertBrokenPipe() {
    assertWritesEnd("Broken pipe");
  }

  private void assertWritesEnd(String... messages) {
    assertThatThrownBy(
            () -> {
              while (true) {
                survivor.write(ByteBuffer.allocate(CHUNK));
              }
            })
        .isInstanceOf(IOException.class)
        .extracting(Throwable::getMessage)
        .isIn((Object[]) messages);
  }

  // ---- woken, and killed before it has seen that

  private void exchangeOnTcp() throws IOException {
    survivor.write(ByteBuffer.allocate(SOME));
    ByteBuffer taken = ByteBuffer.allocate(SOME);
    while (taken.hasRemaining()) {
      peer.wire.read(taken);
    }
    peer.shared.take(SOME);
  }

  private int doorbells() throws IOException {
    return peer.wire.read(ByteBuffer.allocate(CHUNK));
  }

  @Test
  void whoHadReadEverythingAndNotSwitchedIsTheEndOfTheStream() throws Exception {
    exchangeOnTcp();
    assertThat(send(SOME)).isEqualTo(SOME);
    establish();
    peer.shared.awaitDoorbell();
    survivor.shutdownOutput();
    die();
    assertThat(readAll()).isEqualTo(SOME);
    assertThat(survivor.read(ByteBuffer.allocate(1))).isEqualTo(-1);
  }

  @Test
  void whatItsKernelHasNotSentYetIsNotLost() throws Exception {
    exchangeOnTcp();
    establish();
    long sent = send(Long.MAX_VALUE);
    peer.shared.awaitDoorbell();
    survivor.shutdownOutput();
    die();
    assertThat(readAll()).isEqualTo(sent);
  }

  @Test
  void noDoorbellIsRungWhileItsBytesAreOnTcp() throws Exception {
    exchangeOnTcp();
    establish();
    assertThat(send(SOME)).isEqualTo(SOME);
    for (int i = 0; i < 2; i++) { // one message may say that both have agreed
      peer.shared.awaitDoorbell();
      survivor.write(ByteBuffer.allocate(1));
      assertThat(Frames.ofTransport(peer.session.read(TimeUnit.NANOSECONDS.toMillis(DEADLINE_NS))))
          .isTrue();
    }
    assertThat(doorbells()).isZero();

    peer.shared.switchOut(SOME);
    assertThat(survivor.read(ByteBuffer.allocate(CHUNK))).isEqualTo(SOME);
    peer.shared.awaitDoorbell();
    survivor.write(ByteBuffer.allocate(1));
    await(
        () -> {
          try {
            return doorbells() == 1;
          } catch (IOException e) {
            throw new AssertionError(e);
          }
        });
  }

  @Test
  void whoIsKilledWithBytesOfOursUnreadIsAResetAlsoBeforeItsSwitch() throws Exception {
    establish();
    assertThat(send(SOME)).isEqualTo(SOME);
    survivor.write(ByteBuffer.allocate(1));
    die();
    assertThat(survivor.read(ByteBuffer.allocate(CHUNK))).isEqualTo(SOME);
    assertReset();
  }

  // ---- while a thread of the survivor's sleeps on a doorbell that it has said to ring

  private FutureTask<Long> readingOnDoorbell() throws Exception {
    establish();
    peer.memory.licenseDoorbells();
    peer.shared.switchOut(0);
    FutureTask<Long> reading = new FutureTask<>(this::readAll);
    Thread reader = new Thread(reading, "reader");
    reader.start();
    await(() -> sleepsOnDoorbell(reader.getStackTrace()));
    return reading;
  }

  private static boolean sleepsOnDoorbell(StackTraceElement[] stack) {
    return stack.length > 0 && stack[0].getClassName().equals("java.io.FileInputStream");
  }

  @Test
  void whatItHadNotRungForWhenItWasKilledIsReadAndThenComesTheEnd() throws Exception {
    FutureTask<Long> reading = readingOnDoorbell();
    peer.shared.sendSome();
    die();
    assertThat(reading.get(DEADLINE_NS, TimeUnit.NANOSECONDS)).isEqualTo(SOME);
  }

  @Test
  void itsConnectionEndsWithoutAWordWhileItsSessionLives() throws Exception {
    FutureTask<Long> reading = readingOnDoorbell();
    peer.wire.close();
    assertThat(reading.get(DEADLINE_NS, TimeUnit.NANOSECONDS)).isZero();
  }

  // ---- while the survivor's program does not read

  /** All that a kernel takes of the peer's, and a few bytes in shared memory behind it. */
  private long sendMuch(long most) throws Exception {
    establish();
    long sent = send(most);
    peer.shared.switchOut(sent);
    peer.shared.sendSome();
    return sent + SOME;
  }

  @Test
  void whatWaitsOnTcpIsReadLaterAndThenComesTheEnd() throws Exception {
    long sent = sendMuch(MUCH);
    die();
    waitLong();
    assertThat(readAll()).isEqualTo(sent);
  }

  @Test
  void whatItsKernelHasNotSentYetIsReadLaterToo() throws Exception {
    long sent = sendMuch(Long.MAX_VALUE);
    die();
    waitLong();
    assertThat(readAll()).isEqualTo(sent);
  }

  @Test
  void bytesOfOursUnreadMakeItAResetHoweverLate() throws Exception {
    long sent = sendMuch(MUCH);
    survivor.write(ByteBuffer.allocate(SOME));
    die();
    waitLong();
    ByteBuffer into = ByteBuffer.allocate((int) sent);
    while (into.hasRemaining()) {
      assertThat(survivor.read(into)).isPositive();
    }
    assertReset();
  }

  @Test
  void aWriterLearnsOfItAllTheSame() throws Exception {
    long sent = sendMuch(MUCH);
    die();
    // What it has written before it learns of the end is left unread, or reaches nobody.
    assertWritesEnd("Connection reset by peer", "Broken pipe");
    assertThat(sent).isGreaterThan(MUCH);
  }

  // ---- looked at late

  private Upgradable upgrade() throws ReflectiveOperationException {
    Object connectionPath = valueOf("connectionPath", survivor);
    return (Upgradable) valueOf("upgrade", connectionPath);
  }

  private static Object valueOf(String name, Object owner) throws ReflectiveOperationException {
    Field field = owner.getClass().getDeclaredField(name);
    field.setAccessible(true);
    return field.get(owner);
  }

  @Test
  void theEndBehindDoorbellsIsSeenAtTheLastLook() throws Exception {
    establish();
    peer.shared.switchOut(0);
    await(() -> lookedAt() == 0);
    peer.wire.write(ByteBuffer.allocate(3));
    peer.wire.close();
    assertThat(upgrade().peerLost(true)).isTrue();
    assertThat(survivor.read(ByteBuffer.allocate(1))).isEqualTo(-1);
  }

  private int lookedAt() {
    try {
      survivor.configureBlocking(false);
      int n = survivor.read(ByteBuffer.allocate(1));
      survivor.configureBlocking(true);
      return n;
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void theEndIsSeenAtTheLastLookAlsoBeforeTheSwitch() throws Exception {
    establish();
    assertThat(send(SOME)).isEqualTo(SOME);
    peer.wire.close();
    upgrade().peerLost(true); // the next look tells, or the program's
    assertThat(readAll()).isEqualTo(SOME);
  }

  // ---- whose session ends, and not its connections

  @Test
  void whoLivesAndHasLeftTheSessionIsAReset() throws Exception {
    establish();
    peer.shared.switchOut(0);
    peer.session.close();
    assertReset();
    assertBrokenPipe();
  }

  @Test
  void whoLivesIsHeardOnTcpUntilItEnds() throws Exception {
    establish();
    assertThat(send(SOME)).isEqualTo(SOME);
    peer.session.close();
    assertBrokenPipe();
    assertThat(send(SOME)).isEqualTo(SOME);
    ByteBuffer into = ByteBuffer.allocate(2 * SOME);
    while (into.hasRemaining()) {
      assertThat(survivor.read(into)).isPositive();
    }
    peer.wire.close();
    assertReset(); // it has not read what the ring had room for
  }
}
