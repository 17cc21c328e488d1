// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.messages.wire;

import io.talaria.bench.compare.Service;
import io.talaria.cli.harness.HostPort;
import io.talaria.workloads.messages.objects.Tally;
import java.io.IOException;
import java.nio.channels.ClosedSelectorException;
import org.agrona.concurrent.IdleStrategy;
import org.agrona.concurrent.UnsafeBuffer;
import org.zeromq.SocketType;
import org.zeromq.ZContext;
import org.zeromq.ZMQ;
import org.zeromq.ZMQException;

/** Objects by JeroMQ: a pair of sockets by TCP, codec by hand. It batches by itself. */
public final class JeroWire implements Wire {
  private static final int MAX_WAITING = 100_000;
  private static final int LIMIT_MS = 30_000;

  /**
   * JeroMQ 0.6.0 at times forgets a connection that it has just made, because its selector still
   * has the cancelled key of the connecting (one in a hundred on a busy host; zeromq/jeromq, pull
   * request 1022). Only the end of the time for the handshake, else as long as our limit, has it
   * begin anew.
   */
  private static final int HANDSHAKE_MS = 2_000;

  private final ZContext context = new ZContext(1);
  private final ZMQ.Socket socket;
  private long sent;

  JeroWire(HostPort where) {
    socket = socket(context);
    socket.setReceiveTimeOut(LIMIT_MS);
    socket.connect("tcp://" + where.host() + ":" + where.port());
  }

  private static ZMQ.Socket socket(ZContext context) {
    ZMQ.Socket socket = context.createSocket(SocketType.PAIR);
    socket.setHWM(MAX_WAITING);
    socket.setLinger(0);
    socket.setHandshakeIvl(HANDSHAKE_MS);
    return socket;
  }

  static Service serve() {
    ZContext context = new ZContext(1);
    ZMQ.Socket socket = socket(context);
    int port = socket.bindToRandomPort("tcp://127.0.0.1");
    Thread thread = new Thread(() -> receive(socket), "receiver");
    thread.setDaemon(true);
    thread.start();
    return Service.of(port, context::close); // which ends its wait
  }

  private static void receive(ZMQ.Socket socket) {
    Tally.Adder adder = new Tally.Adder();
    try {
      while (true) {
        byte[] bytes = socket.recv();
        if (bytes == null) {
          continue; // interrupted, or woken for nothing; the end is an exception
        }
        UnsafeBuffer from = new UnsafeBuffer(bytes);
        Object message = Handmade.read(from, 0);
        if (message instanceof Handmade.HowMany) {
          put(socket, Handmade.TALLY, adder.tally());
        } else if (Handmade.isRequest(from, 0)) {
          put(socket, Handmade.PLAIN, message);
        } else {
          adder.take(message);
        }
      }
    } catch (ZMQException | ClosedSelectorException e) {
      // The context was closed.
    } catch (RuntimeException | Error e) {
      // Who asks would wait for nothing: end, so that this is told, and not that there is no
      // response.
      e.printStackTrace();
      Runtime.getRuntime().halt(1);
    }
  }

  private static void put(ZMQ.Socket to, int kind, Object message) {
    byte[] bytes = new byte[Handmade.size(message)];
    Handmade.write(new UnsafeBuffer(bytes), 0, kind, message);
    if (!to.send(bytes, 0)) {
      throw new IllegalStateException("JeroMQ did not take a message, errno " + to.errno());
    }
  }

  private Object roundTrip(int kind, Object message) throws IOException {
    put(socket, kind, message);
    byte[] response = socket.recv();
    if (response == null) {
      throw new IOException(
          "no response within " + LIMIT_MS + " ms to what followed " + sent + " messages");
    }
    return Handmade.read(new UnsafeBuffer(response), 0);
  }

  @Override
  public ObjectSender sender(IdleStrategy full) {
    return message -> {
      sent++;
      put(socket, Handmade.PLAIN, message);
    };
  }

  @Override
  public Tally tally() throws IOException {
    return (Tally) roundTrip(Handmade.HOW_MANY, new Handmade.HowMany());
  }

  @Override
  public Object request(Object message) throws IOException {
    return roundTrip(Handmade.REQUEST, message);
  }

  @Override
  public void close() {
    context.close();
  }
}
