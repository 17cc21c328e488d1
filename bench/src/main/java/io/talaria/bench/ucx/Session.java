// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.ucx;

import io.talaria.bench.harness.UcxPerftest;
import io.talaria.bench.ucx.Messages.Hello;
import io.talaria.bench.ucx.Messages.Setup;
import io.talaria.cli.harness.HarnessException;
import io.talaria.ucx.Ucx;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.time.Duration;

/** A control connection on the server: does what its client asks for, by one thread. */
final class Session {
  private static final Duration HELLO_LIMIT = Duration.ofSeconds(10);
  private static final Duration MEASURE_LIMIT = Duration.ofHours(1);
  private static final int MOST_BYTES = 16 << 20;

  private final ControlLink link;
  private final String token;
  private final int core;

  /**
   * Creates a session.
   *
   * @param link the connection
   * @param token what the client must know
   * @param core the core for {@code ucx_perftest}
   */
  Session(ControlLink link, String token, int core) {
    this.link = link;
    this.token = token;
    this.core = core;
  }

  /** Serves the client until it goes. */
  void serve() {
    UcxPerftest.Server baseline = null;
    try {
      greet();
      while (true) {
        ControlLink.Request request = link.awaitRequest();
        switch (request.type()) {
          case SETUP -> follow(request.as(Setup.class));
          case BASELINE -> {
            close(baseline);
            baseline = baseline(request.as(Messages.Baseline.class));
          }
          default -> throw new ControlException("a " + request.type() + " out of turn");
        }
      }
    } catch (IOException | HarnessException | RuntimeException e) {
      link.fail(e instanceof RuntimeException ? e.toString() : e.getMessage());
    } finally {
      close(baseline);
      link.close();
    }
  }

  private static void close(UcxPerftest.Server baseline) {
    if (baseline != null) {
      baseline.close();
    }
  }

  private void greet() throws IOException {
    Hello hello = link.await(FrameType.HELLO, Hello.class, HELLO_LIMIT);
    if (!ControlLink.PROGRAM.equals(hello.program())) {
      throw new ControlException("this is a server of talaria bench ucx");
    }
    if (hello.version() != ControlLink.VERSION) {
      throw new ControlException(
          "the client speaks version "
              + hello.version()
              + " of the protocol, the server version "
              + ControlLink.VERSION
              + ": use the same release of Talaria on both sides");
    }
    if (hello.token() == null || !MessageDigest.isEqual(bytes(token), bytes(hello.token()))) {
      throw new ControlException("wrong token: give the one that the server has printed, --token");
    }
    link.send(
        FrameType.WELCOME,
        new Messages.Welcome(System.getProperty("java.runtime.version"), Ucx.version()));
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private UcxPerftest.Server baseline(Messages.Baseline wanted)
      throws HarnessException, IOException {
    if (!UcxPerftest.installed()) {
      throw new HarnessException("ucx_perftest is not installed here (package ucx-utils)");
    }
    UcxPerftest.Server server =
        UcxPerftest.startServer(core, wanted.transports() == null ? "" : wanted.transports());
    link.send(FrameType.BASELINE_READY, new Messages.BaselineReady(server.port()));
    return server;
  }

  private void follow(Setup setup) throws IOException {
    if (setup.operation() == null
        || setup.kind() == null
        || setup.transports() == null
        || setup.client() == null
        || setup.client().address() == null
        || setup.client().key() == null
        || setup.sizeBytes() < 1
        || setup.sizeBytes() > MOST_BYTES) {
      throw new ControlException("a SETUP with the wrong content");
    }
    Following following = new Following(link, setup);
    following.start();
    try {
      following.stop(link.await(FrameType.STOP, Messages.Stop.class, MEASURE_LIMIT).expected());
      link.await(FrameType.CLOSE, Messages.Nothing.class, ControlLink.LIMIT.multipliedBy(2));
      following.close();
      following.join();
      link.send(FrameType.CLOSED, new Messages.Nothing());
    } finally {
      following.abort();
      following.join();
    }
  }
}
