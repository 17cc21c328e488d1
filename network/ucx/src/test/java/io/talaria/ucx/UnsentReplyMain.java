// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.ucx;

import io.talaria.ucx.transport.ClosingEndpoints;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/**
 * A worker whose reply to a peer's new endpoint waits, because another worker has filled the peer's
 * queue; and what its end does. UCX before 1.14 ends a process in which that goes wrong.
 */
final class UnsentReplyMain {
  private static final int BYTES = 64;
  private static final int ROUNDS = 1_000;

  private final MemorySegment bytes = Arena.global().allocate(BYTES);
  private final Context context = context();
  private final Worker peer = Worker.open(context(), Worker.Options.defaults());
  private final Worker busy = Worker.open(context(), Worker.Options.defaults());
  private final Worker own = Worker.open(context, Worker.Options.defaults());
  private final long mappings;
  private final Endpoint owing;

  private UnsentReplyMain() throws IOException {
    Endpoint toPeer = busy.connect(Endpoint.Options.to(peer.address()));
    Endpoint back = peer.connect(Endpoint.Options.to(busy.address()));
    send(toPeer);
    send(back);
    progress(peer, busy);
    Endpoint asking = peer.connect(Endpoint.Options.to(own.address()));
    send(asking);
    progress(peer);
    mappings = mappings();
    while (send(toPeer) == 0) {
      // Until the queue of the peer is full.
    }
    progress(own); // receives the request, and has to reply
    owing = own.connect(Endpoint.Options.to(peer.address()));
    progress(own);
  }

  private static Context context() {
    try (Config config = Pair.config().set("TLS", "posix,self")) {
      return Context.open(Context.Options.of(Feature.STREAM, Feature.WAKEUP), config);
    }
  }

  private long send(Endpoint endpoint) {
    return endpoint.sendStream(bytes, 0, BYTES, 0);
  }

  private static void progress(Worker... workers) {
    for (int i = 0; i < ROUNDS; i++) {
      for (Worker each : workers) {
        each.progress();
      }
    }
  }

  private static long mappings() throws IOException {
    try (Stream<String> all = Files.lines(Path.of("/proc/self/maps"))) {
      return all.filter(line -> line.contains("ucx_shm")).count();
    }
  }

  private boolean done(long request) {
    return request <= 0 || own.status(request) != Status.IN_PROGRESS;
  }

  private void closeWhatOwes() {
    long request = owing.closeForced();
    progress(own);
    System.out.println("before it may reply: " + done(request));
    progress(peer, own);
    System.out.println("afterwards: " + done(request));
  }

  private void replyInTime() throws IOException {
    ClosingEndpoints closing = new ClosingEndpoints(own);
    closing.force(owing, () -> false);
    System.out.println("before it may reply: " + owing.isOpen() + " " + closing.poll());
    for (int i = 0; i < ROUNDS && closing.poll(); i++) {
      progress(peer, own);
    }
    System.out.println("afterwards: " + owing.isOpen() + " " + closing.poll());
    System.out.println("mappings " + (mappings() - mappings));
  }

  private void neverReply() throws InterruptedException {
    ClosingEndpoints closing = new ClosingEndpoints(own);
    closing.force(owing, () -> false);
    while (closing.poll()) {
      own.progress();
      Thread.sleep(1);
    }
    System.out.println("left: " + owing.isOpen());
    closeWorker();
  }

  private void closeWorker() {
    own.close();
    context.close();
    System.out.println("closed: " + own.isOpen());
  }

  public static void main(String[] args) throws Exception {
    UnsentReplyMain main = new UnsentReplyMain();
    System.out.println("owes " + main.owing.mayOweReply());
    switch (args[0]) {
      case "close" -> main.closeWhatOwes();
      case "in-time" -> main.replyInTime();
      case "never" -> main.neverReply();
      case "worker" -> main.closeWorker();
      default -> throw new IllegalArgumentException(args[0]);
    }
  }
}
