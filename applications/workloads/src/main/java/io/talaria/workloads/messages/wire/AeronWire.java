// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.messages.wire;

import io.aeron.Aeron;
import io.aeron.Publication;
import io.aeron.Subscription;
import io.aeron.driver.MediaDriver;
import io.aeron.driver.ThreadingMode;
import io.aeron.logbuffer.BufferClaim;
import io.aeron.logbuffer.FragmentHandler;
import io.aeron.logbuffer.Header;
import io.talaria.bench.compare.Service;
import io.talaria.workloads.messages.objects.Tally;
import java.io.IOException;
import java.net.BindException;
import java.net.DatagramSocket;
import java.nio.file.Path;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;
import org.agrona.concurrent.BackoffIdleStrategy;
import org.agrona.concurrent.BusySpinIdleStrategy;
import org.agrona.concurrent.IdleStrategy;
import org.agrona.concurrent.SleepingMillisIdleStrategy;

/** Objects by Aeron's IPC, with a codec by hand; the receiver polls without rest. */
public final class AeronWire implements Wire {
  private static final String IPC = "aeron:ipc";
  private static final int THERE = 10;
  private static final int BACK = 11;
  private static final int FRAGMENTS = 256;
  private static final int ATTEMPTS = 100;
  private static final IdleStrategy SPIN = BusySpinIdleStrategy.INSTANCE;

  private final Aeron aeron;
  private final Publication there;
  private final Subscription back;
  private final BufferClaim claim = new BufferClaim();
  private final FragmentHandler onBack = this::came;
  private Object response;

  /**
   * Connects to the driver of the other end.
   *
   * @param port of the other end by UDP, and the next one of this end; 0 for IPC
   * @param exclusive whether this thread alone may send
   */
  AeronWire(MessagesJob job, int port, boolean exclusive) {
    aeron = Aeron.connect(new Aeron.Context().aeronDirectoryName(directory(job)));
    there =
        exclusive
            ? aeron.addExclusivePublication(channel(port, 0), THERE)
            : aeron.addPublication(channel(port, 0), THERE);
    back = aeron.addSubscription(channel(port, 1), BACK);
    while (!there.isConnected() || !back.isConnected()) {
      Thread.onSpinWait();
    }
  }

  private static String directory(MessagesJob job) {
    return Path.of(job.directory()).resolve("aeron").toString();
  }

  private static String channel(int port, int next) {
    return port == 0 ? IPC : "aeron:udp?endpoint=127.0.0.1:" + (port + next);
  }

  /** A port that is free for UDP, as is the next one. */
  private static int freePort() throws IOException {
    for (int i = 0; i < ATTEMPTS; i++) {
      try (DatagramSocket one = new DatagramSocket();
          DatagramSocket next = new DatagramSocket(one.getLocalPort() + 1)) {
        return next.getLocalPort() - 1;
      } catch (BindException | IllegalArgumentException e) {
        // Another one.
      }
    }
    throw new IOException("no two free ports for UDP found in " + ATTEMPTS + " attempts");
  }

  static Service serve(MessagesJob job, boolean udp) throws IOException {
    int port = udp ? freePort() : 0;
    MediaDriver driver =
        MediaDriver.launchEmbedded(
            new MediaDriver.Context()
                .aeronDirectoryName(directory(job))
                .threadingMode(ThreadingMode.SHARED)
                .sharedIdleStrategy(
                    udp ? new BackoffIdleStrategy() : new SleepingMillisIdleStrategy(1))
                .dirDeleteOnStart(true)
                .dirDeleteOnShutdown(true));
    Aeron aeron = Aeron.connect(new Aeron.Context().aeronDirectoryName(directory(job)));
    Thread thread = new Thread(new Receiver(aeron, port), "receiver");
    thread.setDaemon(true);
    thread.start();
    return Service.of(
        port,
        () -> {
          thread.interrupt();
          aeron.close();
          driver.close();
        });
  }

  private static final class Receiver implements Runnable {
    private final Subscription from;
    private final Publication back;
    private final Tally.Adder adder = new Tally.Adder();
    private final BufferClaim claim = new BufferClaim();

    Receiver(Aeron aeron, int port) {
      from = aeron.addSubscription(channel(port, 0), THERE);
      back = aeron.addPublication(channel(port, 1), BACK);
    }

    @Override
    public void run() {
      FragmentHandler handler = (buffer, offset, length, header) -> take(buffer, offset);
      while (!Thread.currentThread().isInterrupted()) {
        if (from.poll(handler, FRAGMENTS) == 0) {
          Thread.onSpinWait();
        }
      }
    }

    private void take(DirectBuffer buffer, int offset) {
      Object message = Handmade.read(buffer, offset);
      if (message instanceof Handmade.HowMany) {
        put(back, claim, Handmade.TALLY, adder.tally(), SPIN);
      } else if (Handmade.isRequest(buffer, offset)) {
        put(back, claim, Handmade.PLAIN, message, SPIN);
      } else {
        adder.take(message);
      }
    }
  }

  private static void put(
      Publication to, BufferClaim claim, int kind, Object message, IdleStrategy full) {
    int length = Handmade.size(message);
    while (to.tryClaim(length, claim) < 0) {
      full.idle();
    }
    MutableDirectBuffer buffer = claim.buffer();
    Handmade.write(buffer, claim.offset(), kind, message);
    claim.commit();
  }

  private void came(DirectBuffer buffer, int offset, int length, Header header) {
    response = Handmade.read(buffer, offset);
  }

  /** A publication that is not exclusive takes messages of several threads. */
  @Override
  public ObjectSender sender(IdleStrategy full) {
    BufferClaim own = new BufferClaim();
    return message -> put(there, own, Handmade.PLAIN, message, full);
  }

  private Object roundTrip(int kind, Object message) {
    response = null;
    put(there, claim, kind, message, SPIN);
    while (response == null) {
      if (back.poll(onBack, 1) == 0) {
        Thread.onSpinWait();
      }
    }
    return response;
  }

  @Override
  public Tally tally() {
    return (Tally) roundTrip(Handmade.HOW_MANY, new Handmade.HowMany());
  }

  @Override
  public Object request(Object message) {
    return roundTrip(Handmade.REQUEST, message);
  }

  @Override
  public void close() {
    aeron.close();
  }
}
