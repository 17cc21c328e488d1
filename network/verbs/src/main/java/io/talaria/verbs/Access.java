// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.verbs;

import io.talaria.verbs.binding.VerbsConstants;

/** Who may do what with a memory region, or what a peer may do through a queue pair. */
public enum Access {
  /** The device may write: needed to receive, to read into, and for {@link #REMOTE_WRITE}. */
  LOCAL_WRITE(VerbsConstants.IBV_ACCESS_LOCAL_WRITE),
  /** Peers that know the key may write. Needs {@link #LOCAL_WRITE}. */
  REMOTE_WRITE(VerbsConstants.IBV_ACCESS_REMOTE_WRITE),
  /** Peers that know the key may read. */
  REMOTE_READ(VerbsConstants.IBV_ACCESS_REMOTE_READ),
  /** Peers that know the key may do atomic operations. Needs {@link #LOCAL_WRITE}. */
  REMOTE_ATOMIC(VerbsConstants.IBV_ACCESS_REMOTE_ATOMIC),
  /** Memory windows may be bound to it. */
  WINDOW_BIND(VerbsConstants.IBV_ACCESS_MW_BIND),
  /** Remote addresses count from 0. */
  ZERO_BASED(VerbsConstants.IBV_ACCESS_ZERO_BASED),
  /** Pages are not pinned, but fetched when the device needs them. Only some devices can. */
  ON_DEMAND(VerbsConstants.IBV_ACCESS_ON_DEMAND),
  /** The memory has huge pages. */
  HUGE_PAGES(VerbsConstants.IBV_ACCESS_HUGETLB),
  /** The device may reorder its writes where it can; left out where the kernel does not know it. */
  RELAXED_ORDERING(VerbsConstants.IBV_ACCESS_RELAXED_ORDERING);

  private final int bit;

  Access(int bit) {
    this.bit = bit;
  }

  static int bits(Access... flags) {
    int bits = 0;
    for (Access flag : flags) {
      bits |= flag.bit;
    }
    int writing = REMOTE_WRITE.bit | REMOTE_ATOMIC.bit;
    if ((bits & writing) != 0 && (bits & LOCAL_WRITE.bit) == 0) {
      throw new IllegalArgumentException(
          "REMOTE_WRITE and REMOTE_ATOMIC need LOCAL_WRITE beside them");
    }
    return bits;
  }

  /** Bits of a queue pair, where only the remote ones count. */
  static int remoteBits(Access... flags) {
    int bits = 0;
    for (Access flag : flags) {
      if (flag != REMOTE_WRITE && flag != REMOTE_READ && flag != REMOTE_ATOMIC) {
        throw new IllegalArgumentException(
            "a queue pair grants REMOTE_WRITE, REMOTE_READ and REMOTE_ATOMIC only, not " + flag);
      }
      bits |= flag.bit;
    }
    return bits;
  }
}
