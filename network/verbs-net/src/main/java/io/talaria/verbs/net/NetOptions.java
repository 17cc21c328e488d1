// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.verbs.net;

import io.talaria.nio.authentication.HostKey;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Objects;
import java.util.Optional;

/**
 * Configuration of a {@link VerbsNode}. Immutable. The defaults: the first device, a quarter of the
 * processors for sending and as many for receiving, 32 connections, slices of 4 KiB, windows of 16
 * messages; some 8 MiB of registered memory. Threads spin for 20 µs before they sleep, if there are
 * more than two processors.
 */
public final class NetOptions {

  private final String device;
  private final int port;
  private final int gidIndex;
  private final int sendThreads;
  private final int receiveThreads;
  private final int connections;
  private final int sliceBytes;
  private final int sendSlices;
  private final int sendDepth;
  private final int window;
  private final int inlineBytes;
  private final int spinNs;
  private final int handshakeMs;
  private final int lingerMs;
  private final int largeBytes;
  private final long largeMemoryBytes;
  private final byte[] key;
  private final boolean insecure;
  private final boolean rdmaCm;

  private NetOptions(Builder builder) {
    device = builder.device;
    port = builder.port;
    gidIndex = builder.gidIndex;
    sendThreads = builder.sendThreads;
    receiveThreads = builder.receiveThreads;
    connections = builder.connections;
    sliceBytes = builder.sliceBytes;
    sendSlices = builder.sendSlices;
    sendDepth = builder.sendDepth;
    window = builder.window;
    inlineBytes = builder.inlineBytes;
    spinNs = builder.spinNs;
    handshakeMs = builder.handshakeMs;
    lingerMs = builder.lingerMs;
    largeBytes = builder.largeBytes;
    largeMemoryBytes = builder.largeMemoryBytes;
    key = builder.key;
    insecure = builder.insecure;
    rdmaCm = builder.rdmaCm;
  }

  /**
   * Begins with what is good for most.
   *
   * @return what is asked for so far
   */
  public static Builder builder() {
    return new Builder();
  }

  private static long inRange(long value, long least, long most, String name) {
    if (value < least || value > most) {
      throw new IllegalArgumentException(
          name + " is " + value + ", but must be from " + least + " to " + most);
    }
    return value;
  }

  String device() {
    return device;
  }

  int port() {
    return port;
  }

  int gidIndex() {
    return gidIndex;
  }

  int sendThreads() {
    return sendThreads;
  }

  int receiveThreads() {
    return receiveThreads;
  }

  int connections() {
    return connections;
  }

  int sliceBytes() {
    return sliceBytes;
  }

  int sendSlices() {
    return sendSlices;
  }

  int sendDepth() {
    return sendDepth;
  }

  int window() {
    return window;
  }

  int inlineBytes() {
    return inlineBytes;
  }

  int spinNs() {
    return spinNs;
  }

  int handshakeMs() {
    return handshakeMs;
  }

  int lingerMs() {
    return lingerMs;
  }

  int largeBytes() {
    return largeBytes;
  }

  long largeMemoryBytes() {
    return largeMemoryBytes;
  }

  /** The key; the caller must not change it. */
  Optional<byte[]> key() {
    return Optional.ofNullable(key);
  }

  boolean insecure() {
    return insecure;
  }

  boolean rdmaCm() {
    return rdmaCm;
  }

  @Override
  public String toString() {
    return "device="
        + device
        + ", port="
        + port
        + ", gidIndex="
        + gidIndex
        + ", sendThreads="
        + sendThreads
        + ", receiveThreads="
        + receiveThreads
        + ", connections="
        + connections
        + ", sliceBytes="
        + sliceBytes
        + ", sendSlices="
        + sendSlices
        + ", sendDepth="
        + sendDepth
        + ", window="
        + window
        + ", inlineBytes="
        + inlineBytes
        + ", spinNs="
        + spinNs
        + ", handshakeMs="
        + handshakeMs
        + ", lingerMs="
        + lingerMs
        + ", largeBytes="
        + largeBytes
        + ", largeMemoryBytes="
        + largeMemoryBytes
        + ", authenticated="
        + (key != null)
        + ", insecure="
        + insecure
        + ", rdmaCm="
        + rdmaCm;
  }

  /** Collects the configuration of a node. Not thread-safe; may be used again. */
  public static final class Builder {
    private String device = "";
    private int port = 1;
    private int gidIndex = -1;
    private int sendThreads = Math.max(1, Runtime.getRuntime().availableProcessors() / 4);
    private int receiveThreads = Math.max(1, Runtime.getRuntime().availableProcessors() / 4);
    private int connections = 32;
    private int sliceBytes = 4096;
    private int sendSlices = 256;
    private int sendDepth = 64;
    private int window = 16;
    private int inlineBytes = 64;
    private int spinNs = Runtime.getRuntime().availableProcessors() > 2 ? 20_000 : 0;
    private int handshakeMs = 5000;
    private int lingerMs = 1000;
    private int largeBytes = 1 << 24;
    private long largeMemoryBytes = 1L << 26;
    private byte[] key;
    private boolean insecure;
    private boolean rdmaCm;

    private Builder() {}

    /**
     * Sets the name of the device; empty: the first.
     *
     * @param value the value
     * @return this
     */
    public Builder device(String value) {
      device = Objects.requireNonNull(value, "device");
      return this;
    }

    /**
     * Sets the port of the device, from 1, from 1 to 255.
     *
     * @param value the value
     * @return this
     */
    public Builder port(int value) {
      port = (int) inRange(value, 1, 255, "port");
      return this;
    }

    /**
     * Sets the index of the port's identifier to use; -1: the one that is best, see {@link
     * io.talaria.verbs.Context#preferredGid}, from -1 to 255.
     *
     * @param value the value
     * @return this
     */
    public Builder gidIndex(int value) {
      gidIndex = (int) inRange(value, -1, 255, "gidIndex");
      return this;
    }

    /**
     * Sets how many threads send, from 1 to 64.
     *
     * @param value the value
     * @return this
     */
    public Builder sendThreads(int value) {
      sendThreads = (int) inRange(value, 1, 64, "sendThreads");
      return this;
    }

    /**
     * Sets how many threads receive, and call handlers, from 1 to 64.
     *
     * @param value the value
     * @return this
     */
    public Builder receiveThreads(int value) {
      receiveThreads = (int) inRange(value, 1, 64, "receiveThreads");
      return this;
    }

    /**
     * Sets how many connections there may be at once; memory is registered for all of them, from 1
     * to 16384.
     *
     * @param value the value
     * @return this
     */
    public Builder connections(int value) {
      connections = (int) inRange(value, 1, 16384, "connections");
      return this;
    }

    /**
     * Sets how long a slice is, and so the longest message that is not large, from 64 to 1048576.
     *
     * @param value the value
     * @return this
     */
    public Builder sliceBytes(int value) {
      sliceBytes = (int) inRange(value, 64, 1048576, "sliceBytes");
      return this;
    }

    /**
     * Sets how many slices each send thread has, from 1 to 65536.
     *
     * @param value the value
     * @return this
     */
    public Builder sendSlices(int value) {
      sendSlices = (int) inRange(value, 1, 65536, "sendSlices");
      return this;
    }

    /**
     * Sets how many requests a connection may have under way; rounded up to a power of two, from 2
     * to 4096.
     *
     * @param value the value
     * @return this
     */
    public Builder sendDepth(int value) {
      sendDepth = (int) inRange(value, 2, 4096, "sendDepth");
      return this;
    }

    /**
     * Sets how many messages a peer may send before some of them are taken from its connection's
     * queue here, from 1 to 1023.
     *
     * @param value the value
     * @return this
     */
    public Builder window(int value) {
      window = (int) inRange(value, 1, 1023, "window");
      return this;
    }

    /**
     * Sets up to which length messages are copied into the request, from 0 to 512.
     *
     * @param value the value
     * @return this
     */
    public Builder inlineBytes(int value) {
      inlineBytes = (int) inRange(value, 0, 512, "inlineBytes");
      return this;
    }

    /**
     * Sets how long a thread looks for work before it sleeps, in nanoseconds, from 0 to 1000000000.
     *
     * @param value the value
     * @return this
     */
    public Builder spinNs(int value) {
      spinNs = (int) inRange(value, 0, 1000000000, "spinNs");
      return this;
    }

    /**
     * Sets how long a handshake may take, in milliseconds, from 1 to 600000.
     *
     * @param value the value
     * @return this
     */
    public Builder handshakeMs(int value) {
      handshakeMs = (int) inRange(value, 1, 600000, "handshakeMs");
      return this;
    }

    /**
     * Sets how long closing waits for what was sent, in milliseconds, from 0 to 600000.
     *
     * @param value the value
     * @return this
     */
    public Builder lingerMs(int value) {
      lingerMs = (int) inRange(value, 0, 600000, "lingerMs");
      return this;
    }

    /**
     * Sets the longest large message that is received, from 1 to 1073741824.
     *
     * @param value the value
     * @return this
     */
    public Builder largeBytes(int value) {
      largeBytes = (int) inRange(value, 1, 1073741824, "largeBytes");
      return this;
    }

    /**
     * Sets how much memory is registered at most for large messages that come in, from 1 to
     * 1099511627776.
     *
     * @param value the value
     * @return this
     */
    public Builder largeMemoryBytes(long value) {
      largeMemoryBytes = inRange(value, 1L, 1099511627776L, "largeMemoryBytes");
      return this;
    }

    /**
     * Lets both sides of a connection prove that they have the same key.
     *
     * @param file of 32 to 4096 bytes, for instance from {@code head -c 32 /dev/urandom}, which
     *     only this user may read
     * @return this
     * @throws IOException if it cannot be read, is too short or too long, or is open to others
     */
    public Builder keyFile(Path file) throws IOException {
      key = HostKey.read(file);
      return this;
    }

    /**
     * Allows connections to and from other hosts without a key: anybody who reaches the port may
     * then connect, and use remote memory whose handle it has or guesses.
     *
     * @return this
     */
    public Builder insecure() {
      insecure = true;
      return this;
    }

    /**
     * Lets RDMA CM set connections up instead of a TCP exchange: addresses are those of the RDMA
     * device's port, both sides must do so, and librdmacm is needed. As RDMA CM goes by addresses
     * that are not of the loopback interface, a key file or {@link #insecure} is needed, too.
     *
     * @return this
     */
    public Builder rdmaCm() {
      rdmaCm = true;
      return this;
    }

    /**
     * Makes the options.
     *
     * @return options
     */
    public NetOptions build() {
      return new NetOptions(this);
    }
  }
}
