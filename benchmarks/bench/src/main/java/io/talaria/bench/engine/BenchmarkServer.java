// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.engine;

import io.talaria.bench.harness.ChildJvm;
import io.talaria.bench.plan.SocketTransport;
import io.talaria.cli.harness.HarnessException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * The passive machine: listens for clients, one after the other, and starts measuring JVMs for
 * them, one for each connection. When the connection ends, so does its JVM.
 */
public final class BenchmarkServer implements AutoCloseable {
  /** Connections at once, those included that have not yet said who they are. */
  private static final int MAX_CONNECTIONS = 64;

  /** How long another client's run may take to end: it has closed its connections already. */
  private static final Duration PATIENCE = Duration.ofSeconds(7);

  private final ServerSocket listener;
  private final JvmStarter starter;
  private final String token;
  private final String version;
  private final Consumer<String> log;
  private final Semaphore connections = new Semaphore(MAX_CONNECTIONS);
  private final Turn turn = new Turn();

  /**
   * Listens.
   *
   * @param address where
   * @param starter how JVMs are started here
   * @param token what a client must know
   * @param version Talaria's version
   * @param log told what happens
   * @throws IOException if it cannot listen there
   */
  public BenchmarkServer(
      InetSocketAddress address,
      JvmStarter starter,
      String token,
      String version,
      Consumer<String> log)
      throws IOException {
    this.starter = starter;
    this.token = token;
    this.version = version;
    this.log = log;
    listener = new ServerSocket();
    listener.setReuseAddress(true);
    listener.bind(address);
  }

  /** Returns the port. */
  public int port() {
    return listener.getLocalPort();
  }

  /** Serves clients until it is closed. */
  public void serve() {
    while (!listener.isClosed()) {
      try {
        Socket socket = listener.accept();
        if (connections.tryAcquire()) {
          Thread.ofPlatform().daemon().name("talaria-benchmark-server").start(() -> serve(socket));
        } else {
          log.accept("refused a connection: there are " + MAX_CONNECTIONS + " already");
          socket.close();
        }
      } catch (IOException e) {
        if (!listener.isClosed()) {
          log.accept("a connection failed: " + e.getMessage());
        }
      }
    }
  }

  private void serve(Socket accepted) {
    try (Socket socket = accepted;
        ControlLine line = new ControlLine(socket, "client")) {
      new Session(line).serve();
    } catch (IOException e) {
      log.accept("a connection failed: " + e.getMessage());
    } finally {
      connections.release();
    }
  }

  @Override
  public void close() {
    try {
      listener.close();
    } catch (IOException e) {
      // It no longer listens in any case.
    }
  }

  /** One connection. Its thread reads lines; another waits for what the JVM reports. */
  private final class Session {
    private final ControlLine line;
    private final ExecutorService pump =
        Executors.newSingleThreadExecutor(
            Thread.ofPlatform().daemon().name("talaria-benchmark-server-pump").factory());
    private ChildJvm child;
    private boolean entered;

    Session(ControlLine line) {
      this.line = line;
    }

    void serve() {
      try {
        greet();
        for (ControlLine.Line next = line.receive(null); next != null; next = line.receive(null)) {
          obey(next);
        }
      } catch (HarnessException e) {
        log.accept(line.peerAddress() + ": " + e.getMessage());
        refuse(e);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      } finally {
        stop();
        pump.shutdownNow();
        leave();
      }
    }

    private void enter(String run) throws HarnessException, InterruptedException {
      int members = turn.enter(run, PATIENCE);
      entered = members > 0;
      if (!entered) {
        throw new HarnessException("this server is measuring for someone else; try again later");
      }
      if (members == 1) {
        log.accept("measuring for " + line.peerAddress());
      }
    }

    private void leave() {
      if (entered && turn.leave() == 0) {
        log.accept("done for " + line.peerAddress());
      }
    }

    private void refuse(HarnessException why) {
      try {
        line.send(ControlLine.failed(why));
      } catch (HarnessException e) {
        // The client has gone.
      }
    }

    private void greet() throws HarnessException, InterruptedException {
      ControlLine.Line hello = line.await("hello", ControlLine.LIMIT);
      if (!ControlLine.PROGRAM.equals(hello.program())) {
        throw new HarnessException("this is a server of talaria observe and talaria bench ucx");
      }
      if (hello.version() != ControlLine.VERSION) {
        throw new HarnessException(RemoteMeasurer.mismatch(hello.version(), ControlLine.VERSION));
      }
      if (hello.token() == null || !MessageDigest.isEqual(bytes(token), bytes(hello.token()))) {
        throw new HarnessException(
            "wrong token: give the one that the server has printed, --token");
      }
      if (hello.run() == null) {
        throw new HarnessException("a hello without a run");
      }
      enter(hello.run());
      line.send(ControlLine.welcome(version, System.getProperty("java.runtime.version")));
    }

    private static byte[] bytes(String text) {
      return text.getBytes(StandardCharsets.UTF_8);
    }

    private void obey(ControlLine.Line order) throws HarnessException, InterruptedException {
      switch (order.type()) {
        case "start" -> start(order.transport());
        case "order" -> order(order);
        case "stop" -> {
          stop();
          line.send(ControlLine.line("stopped"));
        }
        default -> throw new HarnessException("'" + order.type() + "' makes no sense here");
      }
    }

    private void start(String name) throws HarnessException, InterruptedException {
      stop();
      SocketTransport transport = transport(name);
      try {
        child = starter.start(transport);
        line.send(ControlLine.line("started"));
      } catch (HarnessException e) {
        refuse(e);
      }
    }

    private static SocketTransport transport(String name) throws HarnessException {
      return Stream.of(SocketTransport.values())
          .filter(transport -> transport.name().equals(name))
          .findFirst()
          .orElseThrow(() -> new HarnessException("there is no transport " + name));
    }

    private void order(ControlLine.Line order) throws HarnessException {
      ChildJvm jvm = child;
      if (jvm == null) {
        throw new HarnessException("an order without a JVM");
      }
      if (order.order() == null) {
        throw new HarnessException("an order of nothing");
      }
      try {
        jvm.send(order.order());
      } catch (HarnessException e) {
        refuse(e);
        return;
      }
      if (order.limitMs() > 0) {
        String phase = order.order().path("phase").asText();
        pump.execute(() -> report(jvm, phase, Duration.ofMillis(order.limitMs())));
      }
    }

    private void report(ChildJvm jvm, String phase, Duration limit) {
      try {
        ChildJvm.Event event = jvm.next(phase, limit);
        line.send(ControlLine.event(event.name(), event.payload()));
      } catch (HarnessException e) {
        refuse(e);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }

    /** Ends the JVM, and waits until nothing more is told about it. */
    private void stop() {
      if (child != null) {
        child.close();
        child = null;
        try {
          pump.submit(() -> {}).get();
        } catch (ExecutionException e) {
          throw new IllegalStateException(e);
        } catch (InterruptedException e) {
          Thread.currentThread().interrupt();
        }
      }
    }
  }
}
