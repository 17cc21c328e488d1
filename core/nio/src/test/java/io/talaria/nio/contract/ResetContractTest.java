// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.contract;

import static io.talaria.nio.contract.Bytes.bytes;
import static io.talaria.nio.contract.Bytes.read;
import static io.talaria.nio.contract.Bytes.readFully;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.BindException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.SocketException;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/**
 * A close that resets the connection leaves nothing behind, whatever the peer has yet to read: the
 * same connection can be made again at once, and is another.
 */
class ResetContractTest extends Contract {
  private static final int ROUNDS = 50;

  ResetContractTest(Variant variant) {
    super(variant);
  }

  /**
   * Makes the same connection again, which fails while a descriptor has it. Another process may
   * have taken the port for a moment; who lingers keeps it for longer than this waits.
   */
  private SocketChannel again(SocketAddress at, ServerSocketChannel listener) throws Exception {
    SocketChannel[] made = {null};
    Await.until(
        "the port is free",
        () -> {
          SocketChannel next = client();
          next.setOption(StandardSocketOptions.SO_REUSEADDR, true);
          try {
            next.bind(at);
            next.connect(listener.getLocalAddress());
            made[0] = next;
          } catch (BindException e) {
            next.close();
          }
          return made[0] != null;
        });
    return made[0];
  }

  private void assertFree(SocketAddress at, ServerSocketChannel listener) throws Exception {
    try {
      again(at, listener).close();
    } catch (AssertionError e) {
      throw new AssertionError(e.getMessage() + ": " + sockets((InetSocketAddress) at), e);
    }
    listener.accept().close();
  }

  /** The kernel's lines of the connections from an address, to tell what still has the port. */
  private static String sockets(InetSocketAddress at) throws IOException {
    String port = String.format(":%04X ", at.getPort());
    StringBuilder found = new StringBuilder();
    for (String table : new String[] {"/proc/net/tcp", "/proc/net/tcp6"}) {
      for (String line : Files.readAllLines(Path.of(table))) {
        if (line.contains(port)) {
          found.append(line.strip()).append("; ");
        }
      }
    }
    return found.toString();
  }

  /** The first bytes may be on TCP, unread, and the output have switched meanwhile, or not. */
  private Pair writtenEarly(ServerSocketChannel listener, int round) throws Exception {
    SocketChannel client = client();
    client.bind(new InetSocketAddress(Pair.LOOPBACK, 0)); // a port that no connection shares
    client.connect(listener.getLocalAddress());
    Pair pair = opened(Pair.of(client, listener.accept()));
    Selector selector = selectorFor(pair.server);
    register(pair.server, selector, 0);
    pair.client.write(bytes(100, 1));
    for (int i = 0; i < round % 4; i++) {
      selector.selectNow();
      Thread.sleep(1); // the upgrade comes at another place each time
    }
    pair.client.write(bytes(100, 2));
    return pair;
  }

  private static void assertTwoHundredBytes(SocketChannel from) throws IOException {
    ByteBuffer all = readFully(from, 200);
    assertThat(all.slice(0, 100)).isEqualTo(bytes(100, 1));
    assertThat(all.slice(100, 100)).isEqualTo(bytes(100, 2));
  }

  @Test
  void aResetFreesThePortThoughThePeerHasReadNothing() throws Exception {
    ServerSocketChannel listener = listener();
    for (int round = 0; round < ROUNDS; round++) {
      Pair pair = writtenEarly(listener, round);
      SocketAddress at = pair.client.getLocalAddress();
      pair.client.setOption(StandardSocketOptions.SO_LINGER, 0);
      pair.client.close();
      assertFree(at, listener);
      assertTwoHundredBytes(pair.server);
      assertThatThrownBy(() -> Bytes.readToEnd(pair.server))
          .isInstanceOf(SocketException.class)
          .hasMessage("Connection reset");
      assertThatThrownBy(() -> pair.server.write(bytes(1, 1)))
          .isInstanceOf(IOException.class)
          .hasMessage("Broken pipe");
    }
  }

  @Test
  void aCloseWithBytesUnreadFreesThePortToo() throws Exception {
    ServerSocketChannel listener = listener();
    for (int round = 0; round < ROUNDS; round++) {
      Pair pair = writtenEarly(listener, round);
      Bytes.writeFully(pair.server, bytes(10, 3));
      // One is read: only then the rest is certainly here. During a switch to UCX a selector may
      // report a channel whose bytes are still under way (docs/limits.md).
      assertThat(readFully(pair.client, 1)).isEqualTo(bytes(10, 3).slice(0, 1));
      SocketAddress at = pair.client.getLocalAddress();
      pair.client.close();
      assertFree(at, listener);
      assertTwoHundredBytes(pair.server);
      assertThatThrownBy(() -> Bytes.readToEnd(pair.server))
          .isInstanceOf(SocketException.class)
          .hasMessage("Connection reset");
    }
  }

  @Test
  void aConnectionFromTheSamePortIsAnother() throws Exception {
    ServerSocketChannel listener = listener();
    for (int round = 0; round < ROUNDS; round++) {
      Pair first = writtenEarly(listener, round);
      SocketAddress at = first.client.getLocalAddress();
      first.client.setOption(StandardSocketOptions.SO_LINGER, 0);
      first.client.close();
      SocketChannel again = again(at, listener);
      for (int i = 0; i < 10; i++) {
        again.write(bytes(100, i));
        Thread.sleep(1); // before the accept: an offer may come for one that is not accepted
      }
      assertTwoHundredBytes(first.server);
      assertThatThrownBy(() -> Bytes.readToEnd(first.server))
          .isInstanceOf(SocketException.class)
          .hasMessage("Connection reset");
      SocketChannel accepted = opened(listener.accept());
      for (int i = 0; i < 10; i++) {
        assertThat(readFully(accepted, 100)).isEqualTo(bytes(100, i));
      }
      accepted.write(bytes(50, round));
      assertThat(readFully(again, 50)).isEqualTo(bytes(50, round));
      again.setOption(StandardSocketOptions.SO_LINGER, 0);
      again.close();
      assertThatThrownBy(() -> read(accepted)).isInstanceOf(SocketException.class);
    }
  }
}
