// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.doorbell;

/**
 * What a process tells of a doorbell of its own.
 *
 * @param descriptor the number of its writing end there
 * @param inode what identifies the pipe on this host
 */
public record DoorbellAddress(int descriptor, long inode) {
  // A record's own would be linked when the first of them is used: see ConnectionKey.

  @Override
  public boolean equals(Object other) {
    return other instanceof DoorbellAddress address
        && descriptor == address.descriptor
        && inode == address.inode;
  }

  @Override
  public int hashCode() {
    return 31 * descriptor + Long.hashCode(inode);
  }
}
