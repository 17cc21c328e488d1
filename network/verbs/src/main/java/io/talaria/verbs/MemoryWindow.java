// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.verbs;

import io.talaria.ffi.Raw;
import io.talaria.verbs.binding.IbvOps;
import io.talaria.verbs.binding.VerbsStructs.Mw;

/**
 * A part of a memory region that peers may access under a key of its own, which can be taken back
 * without touching the region ({@code ibv_mw}). Belongs to its protection domain. A window must be
 * closed before the region it is bound to. One thread at a time.
 */
public final class MemoryWindow extends NativeObject {
  private final ProtectionDomain domain;
  private final int type;

  /** The key of the last binding. Confined to the thread that binds. */
  private int remoteKey;

  MemoryWindow(ProtectionDomain domain, int type) {
    super("memory window", domain);
    this.domain = domain;
    this.type = type;
    if (type != 1 && type != 2) {
      abandoned();
      throw new IllegalArgumentException("a memory window of type " + type + ": there are 1 and 2");
    }
    long pointer = IbvOps.allocMw(domain.context().pointer(), domain.pointer(), type);
    if (pointer < 0) {
      abandoned();
      throw new VerbsException(
          (int) pointer,
          "ibv_alloc_mw of type " + type,
          "The device has no memory windows of this type");
    }
    remoteKey = Raw.half(pointer + Mw.RKEY);
    opened(pointer);
  }

  /**
   * How it is bound.
   *
   * @return 1 or 2
   */
  public int type() {
    return type;
  }

  /**
   * By which a peer names it, after it was bound.
   *
   * @return 32 bits
   */
  public int remoteKey() {
    long ignored = pointer();
    return remoteKey;
  }

  /**
   * The key that the next binding of a window of type 2 may take ({@code ibv_inc_rkey}): the last 8
   * bits are one more.
   *
   * @return 32 bits
   */
  public int nextRemoteKey() {
    int key = remoteKey();
    return (key & ~0xff) | ((key + 1) & 0xff);
  }

  /** It is bound by another key. */
  void bound(int key) {
    remoteKey = key;
  }

  /** The key that the library has given to a window of type 1. */
  void readKey() {
    remoteKey = Raw.half(pointer() + Mw.RKEY);
  }

  /**
   * The domain it belongs to.
   *
   * @return the protection domain
   */
  public ProtectionDomain domain() {
    return domain;
  }

  @Override
  int destroy(long address) {
    return IbvOps.deallocMw(domain.context().pointer(), address);
  }
}
