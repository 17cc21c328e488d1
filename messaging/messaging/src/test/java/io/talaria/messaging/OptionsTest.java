// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.talaria.messaging.Messages.Pair;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.Map;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What options may be, and what is said of those that may not. */
@Timeout(60)
class OptionsTest {
  @TempDir Path directory;

  private static void refused(String message, ThrowingCallable call) {
    assertThatThrownBy(call)
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(message);
  }

  private NodeOptions options() {
    return NodeOptions.of(1)
        .runDirectory(directory.resolve("run"))
        .sharedMemoryDirectory(directory.resolve("shm"));
  }

  @Test
  void valuesOutOfRangeAreNamedWithTheirRange() {
    refused("id is 65535, it must be from 0 to 65534", () -> NodeOptions.of(65_535));
    refused("id is -1", () -> NodeOptions.of(-1));
    refused("dataRingBytes is 100, it must be from 16384", () -> options().dataRingBytes(100));
    refused(
        "dataRingBytes is 20000, it must be a power of two", () -> options().dataRingBytes(20_000));
    refused("controlRingBytes is", () -> options().controlRingBytes(1 << 25));
    refused("maxMessageBytes is 5", () -> options().maxMessageBytes(5));
    refused("handlers is 0, it must be from 1 to 1024", () -> options().handlers(0));
    refused("maxHandlers is 1", () -> options().handlers(4).maxHandlers(1));
    refused("maxVirtualThreads is 0", () -> options().maxVirtualThreads(0));
    refused("receiveBudget is 1", () -> options().receiveBudget(1));
    refused("maxConnections is 0", () -> options().maxConnections(0));
    refused("spin in ns is", () -> options().spin(Duration.ofSeconds(2)));
    refused("sendTimeout in ms is", () -> options().sendTimeout(Duration.ofDays(1)));
    refused("port is 70000", () -> options().listen("127.0.0.1", 70_000));
    refused("java.lang.String is not a record", () -> options().type(String.class));
  }

  @Test
  void registrationsThatDoNotFitFailTheStart() throws Exception {
    refused(
        "Messages$Pair is registered twice",
        () -> Nodes.start(options().type(Pair.class).type(Pair.class)));
    refused(
        "has more than one receiver",
        () ->
            Nodes.start(
                options()
                    .receive(Pair.class, (pair, from) -> {})
                    .receive(Pair.class, (pair, from) -> {})));
    refused(
        "java.lang.Thread is not registered",
        () -> Nodes.start(options().receive(Thread.class, (thread, from) -> {})));
    record WithThread(Thread thread) {}
    refused("component thread of", () -> Nodes.start(options().type(WithThread.class)));
    // Nothing was left running: the id is free.
    Node node = Nodes.start(options());
    node.close();
  }

  @Test
  void whatCannotBeUsedFailsTheStartWithTheCure() throws Exception {
    Path open = Files.createDirectory(directory.resolve("open"));
    Files.setPosixFilePermissions(open, PosixFilePermissions.fromString("rwxrwxrwx"));
    assertThatThrownBy(() -> Nodes.start(options().runDirectory(open)))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("not rwx------");
    Path longOne = Files.createDirectory(directory.resolve("x".repeat(90)));
    Files.setPosixFilePermissions(longOne, PosixFilePermissions.fromString("rwx------"));
    assertThatThrownBy(() -> Nodes.start(options().runDirectory(longOne)))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("name a shorter directory");
    Path key = Files.write(directory.resolve("key"), new byte[8]);
    Files.setPosixFilePermissions(key, PosixFilePermissions.fromString("rw-------"));
    assertThatThrownBy(() -> Nodes.start(options().key(key)))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("has 8 bytes, it must have 32");
    Node node = Nodes.start(options());
    assertThatThrownBy(() -> Nodes.start(options()))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("node 1 of this cluster runs on this host already");
    refused("id is 65535", () -> node.peer(65_535));
    node.close();
    assertThat(node.close(Duration.ofNanos(1))).isZero();
  }

  @Test
  void directoriesAreReadAgainWhenTheyHaveChanged() throws Exception {
    Path file = directory.resolve("nodes");
    Files.writeString(file, "# id host:port\n1 127.0.0.1:4001\n\n2 localhost:4002 # here\n");
    NodeDirectory nodes = NodeDirectory.file(file);
    assertThat(nodes.address(1)).isEqualTo(new InetSocketAddress("127.0.0.1", 4001));
    assertThat(nodes.address(2).getPort()).isEqualTo(4002);
    assertThat(nodes.address(3)).isNull();
    Files.writeString(file, "3 127.0.0.1:4003\n");
    Files.setLastModifiedTime(file, FileTime.fromMillis(System.currentTimeMillis() + 5000));
    long deadline = System.nanoTime() + 30_000_000_000L;
    while (nodes.address(3) == null) {
      assertThat(System.nanoTime()).isLessThan(deadline);
      Thread.sleep(50);
    }
    assertThat(nodes.address(1)).isNull();
    Files.writeString(file, "3 nonsense\n");
    refused("line 1: '3 nonsense' is not of the form ID HOST:PORT", () -> NodeDirectory.file(file));
    Files.writeString(file, "3 127.0.0.1:4003\n# again\n4 127.0.0.1:4004\n3 127.0.0.1:4003\n");
    refused(file + ": lines 1 and 4 are both of node 3", () -> NodeDirectory.file(file));
    assertThat(nodes.address(3)).as("what was known stays").isNotNull();
    refused("cannot be read", () -> NodeDirectory.file(directory.resolve("none")));
    InetSocketAddress address = new InetSocketAddress("127.0.0.1", 1);
    assertThat(NodeDirectory.of(Map.of(5, address)).address(5)).isEqualTo(address);
    assertThat(NodeDirectory.thisHost().address(5)).isNull();
  }
}
