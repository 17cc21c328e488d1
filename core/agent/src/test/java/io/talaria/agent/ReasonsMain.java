// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.agent;

import io.talaria.nio.ConnectionInfo;
import io.talaria.nio.Connections;
import io.talaria.nio.Role;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** Connects to itself, and prints the role and the reason of all that it has, once these stand. */
public final class ReasonsMain {
  private static final int ALL = 3;

  private ReasonsMain() {}

  /**
   * Waits until all have the reason given.
   *
   * @param arguments that reason's code; whether to wait for the connections only
   */
  public static void main(String[] arguments) throws Exception {
    try (ServerSocketChannel listener = ServerSocketChannel.open()) {
      listener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
      try (SocketChannel client = SocketChannel.open(listener.getLocalAddress());
          SocketChannel server = listener.accept()) {
        List<ConnectionInfo> seen = Connections.snapshot();
        while (client.isOpen() && server.isOpen() && !settled(seen, arguments)) {
          client.write(ByteBuffer.allocate(1));
          server.write(ByteBuffer.allocate(1));
          server.read(ByteBuffer.allocate(1));
          client.read(ByteBuffer.allocate(1));
          LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(5));
          seen = Connections.snapshot();
        }
        for (ConnectionInfo each : seen) {
          System.out.println(each.role().code() + " " + each.reason().code());
        }
      }
    }
  }

  private static boolean settled(List<ConnectionInfo> seen, String[] awaited) {
    boolean connectionsOnly = awaited.length > 1 && Boolean.parseBoolean(awaited[1]);
    return seen.size() == ALL
        && seen.stream()
            .filter(each -> !connectionsOnly || each.role() != Role.LISTENER)
            .allMatch(each -> each.reason().code().equals(awaited[0]));
  }
}
