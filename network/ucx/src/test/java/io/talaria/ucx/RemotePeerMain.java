// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.ucx;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * The other JVM of {@link RemoteTwoJvmsTest}. Says its worker's address and the keys of two memory
 * regions, is told the tester's address, connects, says «ready»; then echoes active messages, until
 * its standard input ends, and says what the first longs of its regions are.
 */
final class RemotePeerMain {
  static final long REGION_BYTES = (4L << 20) + 64;
  static final int ECHO = 1;
  static final int ECHOED = 2;

  private final PrintStream out = System.out;
  private final BufferedReader in =
      new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
  private final AtomicBoolean told = new AtomicBoolean();

  private RemotePeerMain() {}

  /** Runs until standard input ends. */
  public static void main(String[] args) throws IOException {
    new RemotePeerMain().run();
  }

  static Context context() {
    return Pair.context(Feature.RMA, Feature.ATOMIC_32, Feature.ATOMIC_64, Feature.ACTIVE_MESSAGE);
  }

  private void run() throws IOException {
    try (Arena arena = Arena.ofConfined();
        Context context = context();
        MemoryRegion allocated = MemoryRegion.allocate(context, REGION_BYTES);
        MemoryRegion registered = MemoryRegion.register(context, arena.allocate(REGION_BYTES, 64));
        Worker worker = Worker.open(context, Worker.Options.defaults())) {
      say(worker.address().toBytes());
      say(allocated.pack().toBytes());
      say(registered.pack().toBytes());
      worker.onMessage(ECHO, message -> echo(worker, message));
      WorkerAddress tester = WorkerAddress.of(HexFormat.of().parseHex(in.readLine()));
      try (Endpoint endpoint = worker.connect(Endpoint.Options.to(tester))) {
        out.println("ready");
        Thread listening = new Thread(this::awaitEnd);
        listening.setDaemon(true);
        listening.start();
        while (!told.get() && endpoint.isOpen()) {
          worker.progress();
          Thread.yield(); // to the tester, if it shares the core
        }
        out.println(
            allocated.memory().get(ValueLayout.JAVA_LONG, 0)
                + " "
                + registered.memory().get(ValueLayout.JAVA_LONG, 0));
      }
    }
    out.println("bye");
  }

  private static void echo(Worker worker, ActiveMessage message) {
    long length = message.length();
    Endpoint reply = message.reply();
    MemorySegment header = Arena.ofAuto().allocate(message.headerLength());
    message.copyHeaderTo(0, header, 0, header.byteSize());
    MemorySegment body = Arena.ofAuto().allocate(Math.max(1, length));
    check(worker.await(message.receive(body, 0), Pair.LIMIT_NS));
    check(
        worker.await(
            reply.sendMessage(ECHOED, header, header.byteSize(), body, 0, length, 0),
            Pair.LIMIT_NS));
  }

  private static void check(int status) {
    if (status != Status.OK) {
      throw new UcxException(Math.min(status, Status.TIMED_OUT), "echo");
    }
  }

  private void say(byte[] bytes) {
    out.println(HexFormat.of().formatHex(bytes));
  }

  private void awaitEnd() {
    try {
      while (in.readLine() != null) {
        Thread.onSpinWait();
      }
    } catch (IOException e) {
      out.println("failed " + e);
    }
    told.set(true);
  }
}
