// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging;

/** The means by which a connection carries its bytes. */
public enum Transport {
  /** Shared memory, between processes of one user on one host. */
  SHM("shm"),
  /**
   * RDMA verbs, which drive InfiniBand and RoCE cards: an engine of Talaria's own, as Ibdxnet has
   * it. Used only if the options name it, because it loads native code and registers memory. It
   * needs {@code talaria-verbs}, {@code libibverbs.so.1}, an active port and {@code
   * --enable-native-access}, and between hosts a key or {@link NodeOptions#insecure}. Its bytes are
   * not encrypted.
   */
  VERBS("verbs"),
  /**
   * UCX, which drives InfiniBand and RoCE cards, and has shared memory of its own on one host. Used
   * only if the options name it, because it loads native code and opens a worker. It needs {@code
   * talaria-ucx}, {@code libucp.so.0} and {@code --enable-native-access}, and between hosts a key
   * or {@link NodeOptions#insecure}. Its bytes are not encrypted.
   */
  UCX("ucx"),
  /** A TCP connection, which Talaria's agent accelerates if it is loaded. */
  TCP("tcp");

  private final String code;

  Transport(String code) {
    this.code = code;
  }

  /** The name of this transport in messages and reports. */
  public String code() {
    return code;
  }
}
