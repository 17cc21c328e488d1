// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.fuzz;

import io.talaria.nio.negotiation.Frames;
import io.talaria.nio.shm.OwnProvider;
import java.io.IOException;
import java.lang.reflect.Field;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.Iterator;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;

/**
 * The victim: a provider of this process with directories of its own, a listener, a selector, and
 * two sound connections that go on beside the attacked ones, one served by that selector, one by a
 * blocking thread. One thread at a time pumps the selector.
 */
final class Variant implements AutoCloseable {
  private static final long DEADLINE_NS = TimeUnit.SECONDS.toNanos(60);
  private static final int SMALL_RING = 4096;
  private static final int LARGE_RING = 65_536;

  private final Path dir;
  private final SelectorProvider provider;
  private final ServerSocketChannel listener;
  private final InetSocketAddress address;
  private final Path announcement;
  private final Selector selector;
  private final Sound selected;
  private final Sound blocking;
  private final Thread echo;
  private final Foe dialling;
  private final Foe listening;

  /** The lines that the provider has logged; each once. */
  private final Collection<?> logged;

  private final Executor negotiation;

  Variant(Path dir, long seed) throws IOException {
    this.dir = dir;
    System.setProperty("talaria.shm.ring.initial", Integer.toString(SMALL_RING));
    System.setProperty("talaria.shm.ring.max", Integer.toString(LARGE_RING));
    try {
      OwnProvider own = OwnProvider.open(dir.resolve("run"), dir.resolve("shm"));
      own.counters().makeCurrent(); // what Sound looks at
      provider = own.provider();
    } finally {
      System.clearProperty("talaria.shm.ring.initial");
      System.clearProperty("talaria.shm.ring.max");
    }
    logged = (Collection<?>) ofContext("logged");
    negotiation = (Executor) ofContext("negotiator");
    listener = provider.openServerSocketChannel();
    listener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
    address = (InetSocketAddress) listener.getLocalAddress();
    announcement = awaitAnnouncement();
    selector = provider.openSelector();

    SocketChannel client = connect();
    SocketChannel server = accept();
    server.configureBlocking(false);
    server.register(selector, SelectionKey.OP_READ, new Echo(server));
    selected = new Sound("fuzz-sound-selected", client, seed);
    client = connect();
    SocketChannel served = accept();
    echo = new Thread(() -> echo(served), "fuzz-echo");
    echo.setDaemon(true);
    echo.start();
    blocking = new Sound("fuzz-sound-blocking", client, ~seed);
    await("the sound connections are not accelerated", this::accelerated);
    dialling = new DiallingFoe(this);
    listening = new ListeningFoe(this);
  }

  /** What a provider does not show. */
  private Object ofContext(String name) {
    try {
      return field(field(field(provider, "channels"), "context"), name);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(e);
    }
  }

  private static Object field(Object of, String name) throws ReflectiveOperationException {
    Field field = of.getClass().getDeclaredField(name);
    field.setAccessible(true);
    return field.get(of);
  }

  private Path awaitAnnouncement() throws IOException {
    Path[] found = {null};
    await(
        "the listener is not announced",
        () -> {
          found[0] = announced();
          return found[0] != null;
        });
    return found[0];
  }

  private Path announced() throws IOException {
    if (Files.isDirectory(runDir())) {
      try (DirectoryStream<Path> files =
          Files.newDirectoryStream(runDir(), "l-" + address.getPort() + "-*")) {
        for (Path file : files) {
          return file;
        }
      }
    }
    return null;
  }

  Path runDir() {
    return dir.resolve("run");
  }

  Path shmDir() {
    return dir.resolve("shm");
  }

  SelectorProvider provider() {
    return provider;
  }

  InetSocketAddress address() {
    return address;
  }

  int port() {
    return address.getPort();
  }

  Path announcement() {
    return announcement;
  }

  Foe foe(boolean dials) {
    return dials ? dialling : listening;
  }

  SocketChannel accept() throws IOException {
    return listener.accept();
  }

  SocketChannel connect() throws IOException {
    SocketChannel client = provider.openSocketChannel();
    client.connect(address);
    return client;
  }

  // ---- the selector

  /** An end of a connection in the selector. */
  @FunctionalInterface
  interface Attached {
    /** The channel is ready. */
    void ready(SelectionKey key) throws IOException;
  }

  void register(SocketChannel channel, int ops, Attached attached) throws IOException {
    channel.configureBlocking(false);
    channel.register(selector, ops, attached);
  }

  Selector selector() {
    return selector;
  }

  /** Changes what the selector is to tell of a channel, if it still can. */
  void interest(SocketChannel channel, int ops) {
    SelectionKey key = channel.keyFor(selector);
    if (key != null && key.isValid()) {
      key.interestOps(ops);
    }
  }

  /**
   * Selects once, and has all be done that is ready.
   *
   * @param timeoutMs 0 not to wait
   */
  void pump(int timeoutMs) {
    try {
      int unused = timeoutMs == 0 ? selector.selectNow() : selector.select(timeoutMs);
      Iterator<SelectionKey> keys = selector.selectedKeys().iterator();
      while (keys.hasNext()) {
        SelectionKey key = keys.next();
        keys.remove();
        if (key.isValid()) {
          ((Attached) key.attachment()).ready(key);
        }
      }
    } catch (IOException e) {
      throw new Finding("a select, or a sound connection in it, has failed: " + e, e);
    }
  }

  /** Sends back what comes. */
  private static final class Echo implements Attached {
    private final SocketChannel channel;
    private final ByteBuffer bytes = ByteBuffer.allocateDirect(4096);

    Echo(SocketChannel channel) {
      this.channel = channel;
    }

    @Override
    public void ready(SelectionKey key) throws IOException {
      if (bytes.position() == 0 && channel.read(bytes) < 0) {
        throw new IOException("the end of a sound connection");
      }
      bytes.flip();
      channel.write(bytes);
      bytes.compact();
      key.interestOps(bytes.position() > 0 ? SelectionKey.OP_WRITE : SelectionKey.OP_READ);
    }
  }

  private static void echo(SocketChannel channel) {
    ByteBuffer bytes = ByteBuffer.allocateDirect(4096);
    try (channel) {
      while (channel.read(bytes.clear()) >= 0) {
        bytes.flip();
        while (bytes.hasRemaining()) {
          channel.write(bytes);
        }
      }
    } catch (IOException e) {
      // Its client says so.
    }
  }

  // ---- whether the victim is unharmed

  /** Fails unless both sound connections go on. */
  void check() throws IOException {
    long one = selected.trips();
    long other = blocking.trips();
    await(
        "the sound connections do not go on",
        () -> selected.trips() > one + 1 && blocking.trips() > other + 1);
    checkLog();
  }

  /** Waits until the negotiation has seen what has been sent to it. */
  void settle() {
    CountDownLatch seen = new CountDownLatch(1);
    negotiation.execute(seen::countDown);
    try {
      if (!seen.await(60, TimeUnit.SECONDS)) {
        throw new Finding("the negotiation hangs");
      }
    } catch (InterruptedException e) {
      throw new Finding("the negotiation hangs", e);
    }
  }

  /** Fails if the negotiation has met what it has not foreseen. */
  void checkLog() {
    for (Object line : logged) {
      if (line.toString().startsWith("internal")) {
        throw new Finding("the negotiation has logged: " + line);
      }
    }
    logged.clear(); // their number is limited
  }

  /** Whether the sound connections are in shared memory. */
  boolean accelerated() throws IOException {
    return selected.accelerated() && blocking.accelerated();
  }

  /** Round trips of the sound connections. */
  long soundTrips() {
    return selected.trips() + blocking.trips();
  }

  /** Something that comes to be true. */
  @FunctionalInterface
  private interface Condition {
    boolean test() throws IOException;
  }

  private void await(String what, Condition condition) throws IOException {
    long start = System.nanoTime();
    while (!condition.test()) {
      if (selected != null) {
        selected.check();
        pump(1);
      }
      if (blocking != null) {
        blocking.check();
      }
      if (System.nanoTime() - start > DEADLINE_NS) {
        throw new Finding(what);
      }
      Thread.yield();
    }
  }

  /** A frame's region, right or not. */
  Frames.Region region(io.talaria.nio.shm.HostileMemory memory, java.util.Random random) {
    return () ->
        random.nextInt(4) == 0
            ? ByteBuffer.allocate(Long.BYTES).putLong(0, random.nextLong())
            : memory.makeRegion();
  }

  @Override
  public void close() throws IOException {
    dialling.close();
    listening.close();
    selected.close();
    blocking.close();
    for (SelectionKey key : selector.keys()) {
      key.channel().close();
    }
    selector.close();
    listener.close();
    try {
      echo.join(TimeUnit.SECONDS.toMillis(30));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
