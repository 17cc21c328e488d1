// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.ucx.binding;

import java.io.IOException;
import java.util.Map;

/**
 * One way from Java to UCX. Made by the transport, which calls {@link #start} once, by one thread,
 * and the rest by any thread after it has answered; only {@link #name} and {@link
 * #newDescriptorSet} may be called before.
 */
public interface UcxBinding {
  /**
   * What the property {@code talaria.ucx.binding} calls it.
   *
   * @return a word
   */
  String name();

  /**
   * What keeps {@link #start} from an attempt, found in moments and without loading UCX.
   *
   * @return what {@link #start} will give, or nothing if that is not known
   */
  default String unavailableReason() {
    return "";
  }

  /**
   * Loads UCX and opens its context for streams, messages by tag and wake-up. May take some hundred
   * milliseconds.
   *
   * @param settings UCX's settings as environment variables ({@code UCX_NAME}) and their values,
   *     for those that the user has not set
   * @return nothing if UCX can be used, or sentences that say why not, with the hint
   */
  String start(Map<String, String> settings);

  /**
   * By what it reaches UCX, once it is started: few letters, for tables.
   *
   * @return names and releases, such as {@code ffm/1.13.1} or {@code jucx 1.18.1/1.13.1}, the last
   *     being UCX's own, as far as it can be told
   */
  String versions();

  /**
   * Whether {@link BoundEndpoint#transports} knows.
   *
   * @return whether it does
   */
  boolean tellsTransports();

  /**
   * Opens a worker: milliseconds, megabytes and some descriptors.
   *
   * @return a worker, to be closed
   * @throws BindingException if UCX refuses
   */
  BoundWorker openWorker();

  /**
   * Takes native memory, which goes with the object.
   *
   * @param bytes how much; at least 1
   * @return memory of zeros
   */
  Block newBlock(int bytes);

  /**
   * Makes an empty set of descriptors.
   *
   * @return a set, whose descriptor is the caller's to close
   * @throws IOException if the kernel has no more
   */
  DescriptorSet newDescriptorSet() throws IOException;
}
