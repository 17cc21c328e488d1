// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.contract;

import static io.talaria.nio.contract.Bytes.bytes;
import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.testsupport.ChildProcess;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.time.Duration;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLEngineResult;
import javax.net.ssl.SSLEngineResult.HandshakeStatus;
import javax.net.ssl.SSLException;
import javax.net.ssl.TrustManagerFactory;
import org.junit.jupiter.api.Test;

/** TLS by {@link SSLEngine} over the channels. */
class TlsContractTest extends Contract {
  private static final char[] PASSWORD = "talaria".toCharArray();
  private static SSLContext context;

  TlsContractTest(Variant variant) {
    super(variant);
  }

  /** A context with a key of its own that it trusts, made by the JDK's keytool. */
  private static synchronized SSLContext context() throws Exception {
    if (context == null) {
      Path dir = Files.createTempDirectory("talaria-tls");
      Path file = dir.resolve("keys");
      ChildProcess.command(
              ChildProcess.jdkProgram("keytool"),
              "-genkeypair",
              "-keyalg",
              "EC",
              "-alias",
              "talaria",
              "-dname",
              "CN=localhost",
              "-storetype",
              "PKCS12",
              "-storepass",
              new String(PASSWORD),
              "-keystore",
              file)
          .runSuccessfully(Duration.ofSeconds(60));
      KeyStore keys = KeyStore.getInstance("PKCS12");
      try (InputStream in = Files.newInputStream(file)) {
        keys.load(in, PASSWORD);
      }
      Files.delete(file);
      Files.delete(dir);
      KeyManagerFactory own = KeyManagerFactory.getInstance("PKIX");
      own.init(keys, PASSWORD);
      TrustManagerFactory trusted = TrustManagerFactory.getInstance("PKIX");
      trusted.init(keys);
      context = SSLContext.getInstance("TLS");
      context.init(own.getKeyManagers(), trusted.getTrustManagers(), null);
    }
    return context;
  }

  /** One end of a TLS connection over a channel in any mode. */
  private static final class Secured {
    private final SocketChannel channel;
    private final SSLEngine engine;
    private final ByteBuffer in;
    private final ByteBuffer out;
    private final ByteBuffer plain;

    Secured(SocketChannel channel, boolean client) throws Exception {
      this.channel = channel;
      engine = context().createSSLEngine("localhost", 0);
      engine.setUseClientMode(client);
      in = ByteBuffer.allocateDirect(engine.getSession().getPacketBufferSize() * 2).limit(0);
      out = ByteBuffer.allocate(engine.getSession().getPacketBufferSize() * 2);
      plain = ByteBuffer.allocate(engine.getSession().getApplicationBufferSize() * 2);
      engine.beginHandshake();
    }

    private boolean handshaking() {
      HandshakeStatus status = engine.getHandshakeStatus();
      if (status == HandshakeStatus.NEED_TASK) {
        engine.getDelegatedTask().run();
        return true;
      }
      return status == HandshakeStatus.NEED_WRAP;
    }

    void send(ByteBuffer data) throws IOException {
      while (data.hasRemaining()) {
        wrap(data);
        if (engine.getHandshakeStatus() == HandshakeStatus.NEED_UNWRAP) {
          unwrap();
        }
      }
    }

    private void wrap(ByteBuffer data) throws IOException {
      while (engine.getHandshakeStatus() == HandshakeStatus.NEED_TASK) {
        engine.getDelegatedTask().run();
      }
      engine.wrap(data, out.clear());
      Bytes.writeFully(channel, out.flip());
    }

    private void unwrap() throws IOException {
      SSLEngineResult result = engine.unwrap(in, plain);
      if (result.getStatus() == SSLEngineResult.Status.BUFFER_UNDERFLOW) {
        in.compact();
        int n = channel.read(in);
        in.flip();
        if (n < 0) {
          throw new SSLException("ended without close_notify");
        }
        Thread.yield();
      }
    }

    ByteBuffer receive(int n) throws IOException {
      ByteBuffer got = ByteBuffer.allocate(n);
      while (got.hasRemaining()) {
        while (handshaking()) {
          if (engine.getHandshakeStatus() == HandshakeStatus.NEED_WRAP) {
            wrap(ByteBuffer.allocate(0));
          }
        }
        unwrap();
        plain.flip();
        int take = Math.min(plain.remaining(), got.remaining());
        got.put(plain.slice(plain.position(), take));
        plain.position(plain.position() + take).compact();
      }
      return got.flip();
    }
  }

  private void roundTrip(boolean blocking) throws Exception {
    Pair pair = pair();
    pair.configureBlocking(blocking);
    Secured client = new Secured(pair.client, true);
    Secured server = new Secured(pair.server, false);
    Doing<ByteBuffer> served =
        Doing.start(
            () -> {
              ByteBuffer request = server.receive(50_000);
              server.send(request.duplicate());
              return request;
            });
    client.send(bytes(50_000, 1));
    assertThat(client.receive(50_000)).isEqualTo(bytes(50_000, 1));
    assertThat(served.result()).isEqualTo(bytes(50_000, 1));
  }

  @Test
  void aSecuredRoundTripInBlockingMode() throws Exception {
    roundTrip(true);
  }

  @Test
  void aSecuredRoundTripInNonBlockingMode() throws Exception {
    roundTrip(false);
  }
}
