// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.ucx;

import io.talaria.bench.plan.BindingKind;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

/** What can be measured, and which test of {@code ucx_perftest} does the same. */
public enum Operation {
  /** {@code ucp_tag_send_nbx}. */
  TAG(BindingKind.UCX_TAG, "tag_lat", "tag_bw"),
  /** {@code ucp_tag_send_sync_nbx}. */
  TAG_SYNC(BindingKind.UCX_TAG_SYNC, "tag_sync_lat", "tag_sync_bw"),
  /** {@code ucp_stream_send_nbx}, received into a buffer. */
  STREAM(BindingKind.UCX_STREAM, "stream_lat", "stream_bw"),
  /** {@code ucp_stream_send_nbx}, received where UCX has put the bytes. */
  STREAM_DATA(BindingKind.UCX_STREAM_DATA, "stream_lat", "stream_bw"),
  /** {@code ucp_put_nbx}. */
  PUT(BindingKind.UCX_PUT, "ucp_put_lat", "ucp_put_bw"),
  /** {@code ucp_get_nbx}. */
  GET(BindingKind.UCX_GET, "ucp_get", "ucp_get"),
  /** {@code ucp_am_send_nbx}. */
  MESSAGE(BindingKind.UCX_AM, "ucp_am_lat", "ucp_am_bw"),
  /** Atomic add. */
  ADD(BindingKind.UCX_ADD, "ucp_add", "ucp_add"),
  /** Atomic and. */
  AND(BindingKind.UCX_AND, "", ""),
  /** Atomic or. */
  OR(BindingKind.UCX_OR, "", ""),
  /** Atomic exclusive or. */
  XOR(BindingKind.UCX_XOR, "", ""),
  /** Atomic add with fetching. */
  FETCH_ADD(BindingKind.UCX_FETCH_ADD, "ucp_fadd", "ucp_fadd"),
  /** Atomic and with fetching. */
  FETCH_AND(BindingKind.UCX_FETCH_AND, "", ""),
  /** Atomic or with fetching. */
  FETCH_OR(BindingKind.UCX_FETCH_OR, "", ""),
  /** Atomic exclusive or with fetching. */
  FETCH_XOR(BindingKind.UCX_FETCH_XOR, "", ""),
  /** Atomic swap. */
  SWAP(BindingKind.UCX_SWAP, "ucp_swap", "ucp_swap"),
  /** Atomic compare-and-swap, which changes nothing. */
  COMPARE_AND_SWAP(BindingKind.UCX_COMPARE_AND_SWAP, "ucp_cswap", "ucp_cswap");

  /** How many are in flight at most, as in {@code ucx_perftest}. */
  static final int WINDOW = 32;

  private static final String PREFIX = "ucx-";

  private final BindingKind kind;
  private final String latencyTest;
  private final String throughputTest;

  Operation(BindingKind kind, String latencyTest, String throughputTest) {
    this.kind = kind;
    this.latencyTest = latencyTest;
    this.throughputTest = throughputTest;
  }

  /**
   * Finds an operation by its name for users.
   *
   * @throws IllegalArgumentException if there is none of that name
   */
  static Operation of(String word) {
    for (Operation operation : values()) {
      if (operation.word().equals(word)) {
        return operation;
      }
    }
    throw new IllegalArgumentException(
        "'" + word + "' is no operation; there are: " + words() + ", atomics (all of them), all");
  }

  /** Returns all names for users. */
  static String words() {
    return Arrays.stream(values()).map(Operation::word).collect(Collectors.joining(", "));
  }

  /** Returns the name for users. */
  String word() {
    return kind.label().substring(PREFIX.length());
  }

  /** Returns the way to communicate that does it. */
  BindingKind kind() {
    return kind;
  }

  /** Returns whether it is an atomic, of 4 and 8 bytes only. */
  boolean isAtomic() {
    return kind.atomic();
  }

  /** Returns whether the server answers each, so that {@code ucx_perftest} prints half the time. */
  boolean isAnswered() {
    return !isAtomic() && this != GET;
  }

  /** Returns whether the project has set itself targets for it. */
  boolean isJudged() {
    return this == TAG || this == STREAM || this == STREAM_DATA || this == PUT;
  }

  /** Returns the test of {@code ucx_perftest}, empty if it has none. */
  String test(Kind kind) {
    return kind == Kind.LATENCY ? latencyTest : throughputTest;
  }

  /** Returns the options that the test needs for being the same. */
  List<String> testOptions(Kind kind) {
    // Its window is 32 for what it calls bandwidth, otherwise 1.
    if (kind == Kind.THROUGHPUT && !isAnswered()) {
      return List.of("-O", Integer.toString(WINDOW));
    }
    return this == STREAM_DATA ? List.of("-r", "recv_data") : List.of();
  }
}
