// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.device.frame;

/** Memory of this rank that a peer may fetch. */
public interface Exposure {
  /** Where the peer finds it. */
  long address();

  /** What the peer must know to get it; not negative. */
  long key();

  /** The peer fetches it no more. Once. */
  void release();
}
