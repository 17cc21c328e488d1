// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging;

/** How the bytes of a connection travel. */
public enum Transport {
  /** Shared memory, between processes of one user on one host. */
  SHM("shm"),
  /**
   * UCX, which drives network cards, and shared memory of its own on one host. Only for those who
   * name it: it loads native code and opens a worker, needs {@code talaria-ucx}, {@code
   * libucp.so.0} and {@code --enable-native-access}, and between hosts a key or {@code insecure()}.
   * What it carries is not encrypted.
   */
  UCX("ucx"),
  /** A TCP connection; accelerated if Talaria's agent is there. */
  TCP("tcp");

  private final String code;

  Transport(String code) {
    this.code = code;
  }

  /** Its name in messages and reports. */
  public String code() {
    return code;
  }
}
