// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.programs;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.java_websocket.WebSocket;
import org.java_websocket.client.WebSocketClient;
import org.java_websocket.handshake.ClientHandshake;
import org.java_websocket.handshake.ServerHandshake;
import org.java_websocket.server.WebSocketServer;

/** Java-WebSocket: its server, on a selector, and its client, on {@code java.net.Socket}. */
final class JavaWebSocketProgram implements ThirdParty {
  @Override
  public int serve(Path folder) throws Exception {
    Server server = new Server();
    server.setTcpNoDelay(true);
    server.start();
    if (!server.started.await(PATIENCE_S, TimeUnit.SECONDS)) {
      throw new IOException("the server has not started");
    }
    return server.getPort();
  }

  @Override
  public Guest connect(int port) throws Exception {
    Client client = new Client(port);
    client.setTcpNoDelay(true);
    if (!client.connectBlocking(PATIENCE_S, TimeUnit.SECONDS)) {
      throw new IOException("not connected");
    }
    return message -> {
      client.send(message);
      return client.answers.poll(PATIENCE_S, TimeUnit.SECONDS);
    };
  }

  private static final class Server extends WebSocketServer {
    final CountDownLatch started = new CountDownLatch(1);

    Server() {
      super(new InetSocketAddress("127.0.0.1", 0));
    }

    @Override
    public void onStart() {
      started.countDown();
    }

    @Override
    public void onOpen(WebSocket connection, ClientHandshake handshake) {}

    @Override
    public void onMessage(WebSocket connection, String message) {
      Failure.end(new IOException("a message of text"));
    }

    @Override
    public void onMessage(WebSocket connection, ByteBuffer message) {
      connection.send(message);
    }

    @Override
    public void onClose(WebSocket connection, int code, String reason, boolean remote) {}

    @Override
    public void onError(WebSocket connection, Exception failure) {
      if (connection == null) { // else the client has ended
        Failure.end(failure);
      }
    }
  }

  private static final class Client extends WebSocketClient {
    final BlockingQueue<byte[]> answers = new LinkedBlockingQueue<>();

    Client(int port) {
      super(URI.create("ws://127.0.0.1:" + port));
    }

    @Override
    public void onOpen(ServerHandshake handshake) {}

    @Override
    public void onMessage(String message) {
      Failure.end(new IOException("a message of text"));
    }

    @Override
    public void onMessage(ByteBuffer message) {
      byte[] bytes = new byte[message.remaining()];
      message.get(bytes);
      answers.add(bytes);
    }

    @Override
    public void onClose(int code, String reason, boolean remote) {}

    @Override
    public void onError(Exception failure) {
      Failure.end(failure);
    }
  }
}
