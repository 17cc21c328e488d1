// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.ucx;

import io.talaria.ucx.Feature;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

/** What can be measured, and which test of {@code ucx_perftest} does the same. */
public enum Operation {
  /** {@code ucp_tag_send_nbx}. */
  TAG("tag", "tag_lat", "tag_bw"),
  /** {@code ucp_tag_send_sync_nbx}. */
  TAG_SYNC("tag-sync", "tag_sync_lat", "tag_sync_bw"),
  /** {@code ucp_stream_send_nbx}, received into a buffer. */
  STREAM("stream", "stream_lat", "stream_bw"),
  /** {@code ucp_stream_send_nbx}, received where UCX has put the bytes. */
  STREAM_DATA("stream-data", "stream_lat", "stream_bw", "-r recv_data"),
  /** {@code ucp_put_nbx}. */
  PUT("put", "ucp_put_lat", "ucp_put_bw"),
  /** {@code ucp_get_nbx}. */
  GET("get", "ucp_get", "ucp_get"),
  /** {@code ucp_am_send_nbx}. */
  MESSAGE("am", "ucp_am_lat", "ucp_am_bw"),
  /** Atomic add. */
  ADD("add", "ucp_add"),
  /** Atomic and. */
  AND("and", ""),
  /** Atomic or. */
  OR("or", ""),
  /** Atomic exclusive or. */
  XOR("xor", ""),
  /** Atomic add with fetching. */
  FETCH_ADD("fetch-add", "ucp_fadd"),
  /** Atomic and with fetching. */
  FETCH_AND("fetch-and", ""),
  /** Atomic or with fetching. */
  FETCH_OR("fetch-or", ""),
  /** Atomic exclusive or with fetching. */
  FETCH_XOR("fetch-xor", ""),
  /** Atomic swap. */
  SWAP("swap", "ucp_swap"),
  /** Atomic compare-and-swap, which changes nothing. */
  COMPARE_AND_SWAP("compare-and-swap", "ucp_cswap");

  private final String word;
  private final String latencyTest;
  private final String throughputTest;

  /** Options of its own, separated by spaces. */
  private final String testOptions;

  private final boolean atomic;

  Operation(String word, String latencyTest, String throughputTest, String testOptions) {
    this.word = word;
    this.latencyTest = latencyTest;
    this.throughputTest = throughputTest;
    this.testOptions = testOptions;
    atomic = false;
  }

  Operation(String word, String latencyTest, String throughputTest) {
    this(word, latencyTest, throughputTest, "");
  }

  /** An atomic, which has one test or none. */
  Operation(String word, String test) {
    this.word = word;
    latencyTest = test;
    throughputTest = test;
    testOptions = "";
    atomic = true;
  }

  /**
   * Finds an operation by its name for users.
   *
   * @throws IllegalArgumentException if there is none of that name
   */
  static Operation of(String word) {
    for (Operation operation : values()) {
      if (operation.word.equals(word)) {
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
    return word;
  }

  /** Returns whether it is an atomic, of 4 and 8 bytes only. */
  boolean isAtomic() {
    return atomic;
  }

  /** Returns whether the server answers each, so that {@code ucx_perftest} prints half the time. */
  boolean isAnswered() {
    return !isAtomic() && this != GET;
  }

  /** Returns whether the client reaches into the server's memory. */
  boolean isRemote() {
    return isAtomic() || this == PUT || this == GET;
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
      return List.of("-O", Integer.toString(Side.WINDOW));
    }
    return testOptions.isEmpty() ? List.of() : List.of(testOptions.split(" ", -1));
  }

  /** Returns what a context must be opened for. */
  Feature feature(int bytes) {
    return switch (this) {
      case TAG, TAG_SYNC -> Feature.TAG;
      case STREAM, STREAM_DATA -> Feature.STREAM;
      case PUT, GET -> Feature.RMA;
      case MESSAGE -> Feature.ACTIVE_MESSAGE;
      default -> bytes == Long.BYTES ? Feature.ATOMIC_64 : Feature.ATOMIC_32;
    };
  }

  /** Makes what does it, on either side. */
  Exercise exercise(Side side, Kind kind, int sizeBytes) {
    return switch (this) {
      case TAG, TAG_SYNC -> new TagExercise(side, kind, sizeBytes, this == TAG_SYNC);
      case STREAM -> new StreamExercise(side, kind, sizeBytes);
      case STREAM_DATA -> new StreamDataExercise(side, kind, sizeBytes);
      case PUT -> new PutExercise(side, kind, sizeBytes);
      case GET -> new GetExercise(side, sizeBytes);
      case MESSAGE -> new MessageExercise(side, kind, sizeBytes);
      default -> new AtomicExercise(side, Atomic.of(this, sizeBytes));
    };
  }
}
