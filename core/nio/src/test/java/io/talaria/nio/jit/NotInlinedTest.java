// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.jit;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.nio.TalariaProvider;
import io.talaria.testsupport.ChildProcess;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** HotSpot inlines no method that has the annotation, and can run all of them. */
class NotInlinedTest {
  private static final Duration LIMIT = Duration.ofMinutes(2);
  private static final int ROUNDS = 20_000;
  private static final String MARKED =
      "io.talaria.nio.channel.TransportLook::pass |io.talaria.nio.shm.ShmOutput::write ";

  @TempDir Path dir;

  @Test
  void markedMethodsAreCompiledByThemselves() throws Exception {
    ChildProcess child =
        ChildProcess.jvm(NotInlinedTest.class)
            .options(
                "-XX:+UnlockDiagnosticVMOptions",
                "-XX:+PrintInlining",
                "-XX:+PrintCompilation",
                "-XX:-BackgroundCompilation",
                "--add-exports=java.base/sun.nio.ch=ALL-UNNAMED",
                "-Dtalaria.dir=" + dir.resolve("talaria"),
                "-Dtalaria.shm.dir=" + dir.resolve("shm"))
            .runSuccessfully(LIMIT);
    // Of a call site: "@ bytecode index   class::method (bytes)   verdict".
    List<String> sites =
        child.out().stream().filter(line -> line.matches(".*@ \\d+ +(" + MARKED + ").*")).toList();
    for (String method : MARKED.split("\\|")) {
      assertThat(sites).anyMatch(line -> line.matches(".*" + method + ".*hot method too big.*"));
    }
    assertThat(sites).noneMatch(line -> line.matches(".*bytes\\) +inline.*"));
  }

  /** Echoes in one thread. */
  public static void main(String[] args) throws Exception {
    SelectorProvider provider = new TalariaProvider();
    try (ServerSocketChannel listener = provider.openServerSocketChannel();
        SocketChannel client = provider.openSocketChannel();
        Selector selector = provider.openSelector()) {
      listener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
      client.connect(listener.getLocalAddress());
      try (SocketChannel server = listener.accept()) {
        server.configureBlocking(false);
        server.register(selector, SelectionKey.OP_READ);
        ByteBuffer bytes = ByteBuffer.allocateDirect(16);
        for (int i = 0; i < ROUNDS; i++) {
          client.write(bytes.clear());
          do {
            selector.select();
            selector.selectedKeys().clear();
          } while (server.read(bytes.clear()) == 0);
          server.write(bytes.clear());
          while (bytes.hasRemaining()) {
            client.read(bytes);
          }
        }
      }
    }
  }
}
