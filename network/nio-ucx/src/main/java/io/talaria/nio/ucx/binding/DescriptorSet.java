// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.ucx.binding;

/**
 * A descriptor that is readable when one of a set of others is. Usable by any thread, also while
 * another sleeps on it. The caller that takes the {@link #descriptor} closes it.
 */
public interface DescriptorSet {
  /**
   * The descriptor of the set.
   *
   * @return a file descriptor
   */
  int descriptor();

  /**
   * Puts a descriptor in.
   *
   * @param other a file descriptor
   * @throws IllegalStateException if the kernel refuses, of which limits and memory can be the
   *     cause, or that it is in the set already
   */
  void add(int other);

  /**
   * Takes a descriptor out.
   *
   * @param other a file descriptor that is in it
   * @throws IllegalStateException if it is not
   */
  void remove(int other);
}
