// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.plan;

import com.fasterxml.jackson.annotation.JsonValue;

/** The libraries that can be measured, and what each can do. */
public enum BindingKind {
  /** {@code java.net.Socket} and its streams. */
  NET("net", true),
  /** A blocking {@code SocketChannel}. */
  NIO("nio", true),
  /** A non-blocking one with a selector that sleeps. */
  NIO_SELECT("nio-select", true),
  /** A non-blocking one with a selector that is asked over and over. */
  NIO_SPIN("nio-spin", true),
  /** Netty, on its event loops. */
  NETTY("netty", true),
  /** UCX's streams. */
  UCX_STREAM("ucx-stream", false),
  /** UCX's messages by tag. */
  UCX_TAG("ucx-tag", false),
  /** UCX's streams, received where UCX has put the bytes. */
  UCX_STREAM_DATA("ucx-stream-data", false),
  /** UCX's messages by tag, sent only when the peer has taken them. */
  UCX_TAG_SYNC("ucx-tag-sync", false),
  /** UCX's active messages. */
  UCX_AM("ucx-am", false),
  /** Writing into the peer's memory by UCX. */
  UCX_PUT("ucx-put", false),
  /** Reading the peer's memory by UCX. */
  UCX_GET("ucx-get", false),
  /** UCX's atomic add. */
  UCX_ADD("ucx-add", false),
  /** UCX's atomic and. */
  UCX_AND("ucx-and", false),
  /** UCX's atomic or. */
  UCX_OR("ucx-or", false),
  /** UCX's atomic exclusive or. */
  UCX_XOR("ucx-xor", false),
  /** UCX's atomic add that fetches. */
  UCX_FETCH_ADD("ucx-fetch-add", false),
  /** UCX's atomic and that fetches. */
  UCX_FETCH_AND("ucx-fetch-and", false),
  /** UCX's atomic or that fetches. */
  UCX_FETCH_OR("ucx-fetch-or", false),
  /** UCX's atomic exclusive or that fetches. */
  UCX_FETCH_XOR("ucx-fetch-xor", false),
  /** UCX's atomic swap. */
  UCX_SWAP("ucx-swap", false),
  /** UCX's atomic compare-and-swap. */
  UCX_COMPARE_AND_SWAP("ucx-compare-and-swap", false),
  /** UCX's messages by tag, through its own Java binding. */
  JUCX("jucx", false),
  /** Send and receive requests of verbs. */
  VERBS_MESSAGE("verbs-msg", false),
  /** Writing into the peer's memory by verbs. */
  VERBS_WRITE("verbs-write", false),
  /** Reading the peer's memory by verbs. */
  VERBS_READ("verbs-read", false),
  /** Messages by the library on verbs. */
  VERBS_NET("verbs-net", false);

  private final String label;
  private final boolean sockets;

  BindingKind(String label, boolean sockets) {
    this.label = label;
    this.sockets = sockets;
  }

  /** Returns the name in files and tables. */
  @JsonValue
  public String label() {
    return label;
  }

  /** Returns whether it talks through sockets, which have a transport. */
  public boolean sockets() {
    return sockets;
  }

  /**
   * Returns whether it can do a pattern.
   *
   * @param pattern the pattern
   */
  public boolean supports(Pattern pattern) {
    return switch (pattern) {
      case THROUGHPUT -> true;
      case BIDIRECTIONAL, ALL_TO_ALL -> !oneSided();
      case PINGPONG -> !oneSided() || this == UCX_PUT || this == VERBS_WRITE;
      case ACCESS -> oneSided();
    };
  }

  /**
   * Returns whether it can do a size.
   *
   * @param sizeBytes the size of a message
   */
  public boolean supports(int sizeBytes) {
    return !atomic() || sizeBytes == Integer.BYTES || sizeBytes == Long.BYTES;
  }

  /** Returns whether one side reaches into the other's memory. */
  public boolean oneSided() {
    return this == UCX_PUT
        || this == UCX_GET
        || this == VERBS_WRITE
        || this == VERBS_READ
        || atomic();
  }

  /** Returns whether it is an atomic of UCX's, of 4 and 8 bytes only. */
  public boolean atomic() {
    return compareTo(UCX_ADD) >= 0 && compareTo(UCX_COMPARE_AND_SWAP) <= 0;
  }

  /** Returns whether it is a way to communicate by this project's binding of UCX. */
  public boolean ucx() {
    return !sockets && !verbs() && this != JUCX;
  }

  /** Returns whether it needs an RDMA device and its libraries, but not UCX. */
  public boolean verbs() {
    return this == VERBS_MESSAGE || this == VERBS_WRITE || this == VERBS_READ || this == VERBS_NET;
  }
}
