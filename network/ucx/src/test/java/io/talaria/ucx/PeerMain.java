// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.ucx;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * The other JVM. Says its worker's address, is told the tester's, connects, says «ready», and
 * echoes until its standard input ends; says «bye» when all is closed. Every line on its standard
 * output is of this protocol.
 */
final class PeerMain {
  private static final int BUFFER_BYTES = 1 << 20;

  private final PrintStream out = System.out;
  private final BufferedReader in =
      new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
  private final AtomicBoolean told = new AtomicBoolean();

  private PeerMain() {}

  /** Runs as {@code stream} or {@code tag}. */
  public static void main(String[] args) throws IOException {
    new PeerMain().run(args[0]);
  }

  private void run(String mode) throws IOException {
    Runtime.getRuntime().addShutdownHook(new Thread(() -> out.println("hook")));
    try (Context context = Pair.context(Feature.STREAM, Feature.TAG);
        Worker worker = Worker.open(context, Worker.Options.defaults());
        Arena arena = Arena.ofConfined()) {
      out.println("address " + HexFormat.of().formatHex(worker.address().toBytes()));
      WorkerAddress tester = WorkerAddress.of(HexFormat.of().parseHex(in.readLine()));
      try (Endpoint endpoint = worker.connect(Endpoint.Options.to(tester))) {
        out.println("ready");
        Thread listening = new Thread(this::awaitEnd);
        listening.setDaemon(true);
        listening.start();
        MemorySegment buffer = arena.allocate(BUFFER_BYTES);
        if (mode.equals("stream")) {
          echoStream(worker, endpoint, buffer);
        } else {
          echoMessages(worker, endpoint, buffer);
        }
      }
    }
    out.println("bye");
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

  private void echoStream(Worker worker, Endpoint endpoint, MemorySegment buffer) {
    StreamChunk chunk = new StreamChunk();
    while (!told.get()) {
      worker.progress();
      Thread.yield(); // to the tester, if it shares the core
      long length = endpoint.receiveStream(chunk);
      for (long done = 0; done < length; ) {
        long part = Math.min(BUFFER_BYTES, length - done);
        chunk.copyTo(done, buffer, 0, part);
        finish(worker, endpoint.sendStream(buffer, 0, part, 0));
        done += part;
      }
      chunk.release();
    }
  }

  private void echoMessages(Worker worker, Endpoint endpoint, MemorySegment buffer) {
    TagMessage message = new TagMessage();
    while (!told.get()) {
      worker.progress();
      Thread.yield();
      if (worker.probeTag(0, 0, message) >= 0) {
        long length = message.length();
        long tag = message.tag() + 1;
        MemorySegment room = length <= BUFFER_BYTES ? buffer : Arena.ofAuto().allocate(length);
        finish(worker, worker.receiveTag(message, room, 0));
        finish(worker, endpoint.sendTag(room, 0, length, tag, 0));
      }
    }
  }

  private static void finish(Worker worker, long request) {
    int status = worker.await(request, Pair.LIMIT_NS);
    if (status != Status.OK) {
      throw new UcxException(Math.min(status, Status.TIMED_OUT), "echo");
    }
  }
}
