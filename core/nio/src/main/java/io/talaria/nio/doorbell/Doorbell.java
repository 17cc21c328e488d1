// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.doorbell;

import io.talaria.nio.jdk.JdkNio;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.Pipe;
import java.nio.channels.SelectableChannel;

/**
 * A pipe of this process that others write into to wake the thread that sleeps on it. The caller
 * that {@linkplain DoorbellPool#lease leases} it owns it until it is given back; it is never
 * closed, because its number must stay its own: peers open it by that number.
 *
 * <p>Both ends stay open here, so it never ends, whatever ringers do. A byte in it means only that
 * some writer has news; one that comes late costs the next lessee an empty look.
 */
public final class Doorbell {
  /** One read takes what all ringers of a sleep have written. */
  static final int DRAINED_BYTES = 4096;

  private final Pipe pipe;
  private final DoorbellAddress address;
  private final ByteBuffer drained = ByteBuffer.allocateDirect(DRAINED_BYTES);

  private Doorbell(Pipe pipe, DoorbellAddress address) {
    this.pipe = pipe;
    this.address = address;
  }

  /** Makes one; any thread, interrupted or not. */
  static Doorbell make() throws IOException {
    Pipe pipe = JdkNio.provider().openPipe();
    try {
      pipe.source().configureBlocking(false);
      pipe.sink().configureBlocking(false);
      int descriptor = JdkNio.descriptor(pipe.sink());
      return new Doorbell(
          pipe, new DoorbellAddress(descriptor, OpenDescriptors.ownPipe(descriptor)));
    } catch (IOException | RuntimeException | OutOfMemoryError e) {
      close(pipe);
      throw e;
    }
  }

  private static void close(Pipe pipe) throws IOException {
    pipe.source().close();
    pipe.sink().close();
  }

  /** What a peer needs to know to ring it. */
  public DoorbellAddress address() {
    return address;
  }

  /** Readable once it is rung, until it is drained: to be registered with a JDK's selector. */
  public SelectableChannel selectable() {
    return pipe.source();
  }

  /** The number of its reading end in this process. */
  int source() {
    return JdkNio.descriptor(pipe.source());
  }

  /**
   * Takes what has been rung. By its lessee only; never between its last look for news and its
   * sleep, or the doorbell of the sleep to come may be taken.
   */
  public void drain() {
    take();
  }

  /** The same; tells whether there was something. */
  boolean take() {
    drained.clear();
    try {
      return pipe.source().read(drained) > 0;
    } catch (IOException e) {
      throw new IllegalStateException("wake-up pipe cannot be read", e);
    }
  }

  /** Rings it from inside this process. Any thread, interrupted or not; does not block. */
  void ring() {
    try {
      pipe.sink().write(ByteBuffer.allocate(1)); // a full one is heard all the same
    } catch (IOException e) {
      throw new IllegalStateException("wake-up pipe cannot be written", e);
    }
  }
}
