// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.messages;

import io.aeron.Aeron;
import io.aeron.Publication;
import io.aeron.Subscription;
import io.aeron.driver.MediaDriver;
import io.aeron.driver.ThreadingMode;
import io.aeron.logbuffer.BufferClaim;
import io.aeron.logbuffer.FragmentHandler;
import io.aeron.logbuffer.Header;
import io.talaria.bench.compare.Service;
import java.nio.file.Path;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;
import org.agrona.concurrent.SleepingMillisIdleStrategy;

/** Objects by Aeron's IPC, with a codec by hand; the receiver polls without rest. */
final class AeronWire implements Wire {
  private static final String CHANNEL = "aeron:ipc";
  private static final int THERE = 10;
  private static final int BACK = 11;
  private static final int FRAGMENTS = 256;

  private final Aeron aeron;
  private final Publication there;
  private final Subscription back;
  private final BufferClaim claim = new BufferClaim();
  private final FragmentHandler onBack = this::came;
  private Object answer;

  AeronWire(MessagesJob job) {
    aeron = Aeron.connect(new Aeron.Context().aeronDirectoryName(directory(job)));
    there = aeron.addPublication(CHANNEL, THERE);
    back = aeron.addSubscription(CHANNEL, BACK);
    while (!there.isConnected() || !back.isConnected()) {
      Thread.onSpinWait();
    }
  }

  private static String directory(MessagesJob job) {
    return Path.of(job.directory()).resolve("aeron").toString();
  }

  static Service serve(MessagesJob job) {
    MediaDriver driver =
        MediaDriver.launchEmbedded(
            new MediaDriver.Context()
                .aeronDirectoryName(directory(job))
                .threadingMode(ThreadingMode.SHARED)
                .sharedIdleStrategy(new SleepingMillisIdleStrategy(1))
                .dirDeleteOnStart(true)
                .dirDeleteOnShutdown(true));
    Aeron aeron = Aeron.connect(new Aeron.Context().aeronDirectoryName(directory(job)));
    Thread thread = new Thread(new Receiver(aeron), "receiver");
    thread.setDaemon(true);
    thread.start();
    return Service.of(
        0,
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

    Receiver(Aeron aeron) {
      from = aeron.addSubscription(CHANNEL, THERE);
      back = aeron.addPublication(CHANNEL, BACK);
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
        put(back, claim, Handmade.TALLY, adder.tally());
      } else if (Handmade.isQuestion(buffer, offset)) {
        put(back, claim, Handmade.PLAIN, message);
      } else {
        adder.take(message);
      }
    }
  }

  private static void put(Publication to, BufferClaim claim, int kind, Object message) {
    int length = Handmade.size(message);
    while (to.tryClaim(length, claim) < 0) {
      Thread.onSpinWait();
    }
    MutableDirectBuffer buffer = claim.buffer();
    Handmade.write(buffer, claim.offset(), kind, message);
    claim.commit();
  }

  private void came(DirectBuffer buffer, int offset, int length, Header header) {
    answer = Handmade.read(buffer, offset);
  }

  @Override
  public void send(Object message) {
    put(there, claim, Handmade.PLAIN, message);
  }

  private Object roundTrip(int kind, Object message) {
    answer = null;
    put(there, claim, kind, message);
    while (answer == null) {
      if (back.poll(onBack, 1) == 0) {
        Thread.onSpinWait();
      }
    }
    return answer;
  }

  @Override
  public Tally tally() {
    return (Tally) roundTrip(Handmade.HOW_MANY, new Handmade.HowMany());
  }

  @Override
  public Object ask(Object message) {
    return roundTrip(Handmade.QUESTION, message);
  }

  @Override
  public void close() {
    aeron.close();
  }
}
