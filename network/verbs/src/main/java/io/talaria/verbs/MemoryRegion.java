// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.verbs;

import io.talaria.ffi.Libc;
import io.talaria.ffi.Raw;
import io.talaria.verbs.binding.Ibv;
import io.talaria.verbs.binding.IbvOps;
import io.talaria.verbs.binding.VerbsConstants;
import io.talaria.verbs.binding.VerbsStructs.Mr;
import io.talaria.verbs.binding.VerbsStructs.Sge;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Memory that a device may access by itself ({@code ibv_mr}). Belongs to its protection domain,
 * which cannot be closed before. Usable by any thread.
 */
public final class MemoryRegion extends NativeObject {
  private static final long PAGE_BYTES = 4096;
  private static final int ENOMEM = 12;

  /** All that are open: the device uses their memory, whether the program refers to them or not. */
  private static final Set<MemoryRegion> OPEN = ConcurrentHashMap.newKeySet();

  private final ProtectionDomain domain;
  private final MemorySegment memory;
  private final long address;
  private final long length;
  private final int localKey;
  private final int remoteKey;
  private final boolean zeroBased;

  /** Whether no request under way names it, when it is closed. */
  private volatile boolean idle;

  private MemoryRegion(ProtectionDomain domain, MemorySegment memory, int bits) {
    super("memory region", domain);
    this.domain = domain;
    this.memory = memory;
    address = memory.address();
    length = memory.byteSize();
    long region;
    try {
      OPEN.add(this); // first, because it may find no memory
      region = registered(bits);
    } catch (RuntimeException | Error e) {
      OPEN.remove(this);
      abandoned();
      throw e;
    }
    localKey = Raw.half(region + Mr.LKEY);
    remoteKey = Raw.half(region + Mr.RKEY);
    zeroBased = (bits & VerbsConstants.IBV_ACCESS_ZERO_BASED) != 0;
    opened(region);
  }

  static MemoryRegion register(ProtectionDomain domain, MemorySegment memory, Access... access) {
    int bits = Access.bits(access);
    Bits.usable(memory, (bits & VerbsConstants.IBV_ACCESS_LOCAL_WRITE) != 0);
    if (memory.byteSize() == 0) {
      throw new IllegalArgumentException("a memory region of 0 bytes");
    }
    return new MemoryRegion(domain, memory, bits);
  }

  static MemoryRegion allocate(ProtectionDomain domain, long bytes, Access... access) {
    if (bytes <= 0) {
      throw new IllegalArgumentException("a memory region of " + bytes + " bytes");
    }
    // Collected when the region is closed and nothing refers to the memory: neither the domain,
    // while a queue pair may use it, nor requests that name it.
    return register(domain, allocated(bytes), access);
  }

  /** A limit of the JVM is told as the limits of the device are: programs handle those. */
  private static MemorySegment allocated(long bytes) {
    try {
      return Arena.ofAuto().allocate(bytes, PAGE_BYTES);
    } catch (OutOfMemoryError e) {
      throw (VerbsException)
          new VerbsException(
                  ENOMEM,
                  "allocating " + bytes + " bytes",
                  "All direct memory of the JVM together has a limit, the maximum of the heap by"
                      + " default: raise it by -XX:MaxDirectMemorySize")
              .initCause(e);
    }
  }

  private long registered(int bits) {
    boolean optional = (bits & VerbsConstants.IBV_ACCESS_OPTIONAL_RANGE) != 0;
    boolean zero = (bits & VerbsConstants.IBV_ACCESS_ZERO_BASED) != 0;
    long region =
        optional || zero
            ? Ibv.regMrIova2(domain.pointer(), address, length, zero ? 0 : address, bits)
            : Ibv.regMr(domain.pointer(), address, length, bits);
    if (region < 0) {
      throw new VerbsException(
          (int) region, "registering " + length + " bytes (ibv_reg_mr)", hint((int) region));
    }
    return region;
  }

  private String hint(int errno) {
    long limit = Libc.memlockLimit();
    if (errno != -ENOMEM || limit == Long.MAX_VALUE) {
      return "";
    }
    return "The limit of locked memory (RLIMIT_MEMLOCK, ulimit -l) is "
        + limit
        + " bytes for the whole process: raise it, for example to unlimited in"
        + " /etc/security/limits.conf or by LimitMEMLOCK= of systemd";
  }

  /**
   * The memory.
   *
   * @return a segment, of the length of the region
   */
  public MemorySegment memory() {
    long ignored = pointer();
    return memory;
  }

  /**
   * Where a peer finds the first byte: its address, or 0 if the region is {@link
   * Access#ZERO_BASED}.
   *
   * @return the number that peers add their offset to
   */
  public long remoteAddress() {
    long ignored = pointer();
    return zeroBased ? 0 : address;
  }

  /**
   * How long it is.
   *
   * @return a number of bytes
   */
  public long byteSize() {
    return length;
  }

  /**
   * By which requests of this host name it ({@code lkey}).
   *
   * @return 32 bits
   */
  public int localKey() {
    long ignored = pointer();
    return localKey;
  }

  /**
   * By which a peer names it ({@code rkey}).
   *
   * @return 32 bits
   */
  public int remoteKey() {
    long ignored = pointer();
    return remoteKey;
  }

  /**
   * The domain it belongs to.
   *
   * @return the protection domain
   */
  public ProtectionDomain domain() {
    return domain;
  }

  /**
   * Fetches pages of an {@link Access#ON_DEMAND} region before the device needs them ({@code
   * ibv_advise_mr}). Blocks until they are there.
   *
   * @param offset where in the region
   * @param bytes how much
   * @param writing whether the device will write there
   * @throws VerbsException if the device cannot do it
   */
  public void prefetch(long offset, int bytes, boolean writing) {
    try (Arena arena = Arena.ofConfined()) {
      long at = Bits.zeroed(arena, Sge.STRUCT).address();
      Raw.word(at + Sge.ADDR, addressOf(offset, bytes));
      Raw.half(at + Sge.LENGTH, bytes);
      Raw.half(at + Sge.LKEY, localKey());
      VerbsException.check(
          IbvOps.adviseMr(
              domain.context().pointer(),
              domain.pointer(),
              writing
                  ? VerbsConstants.IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE
                  : VerbsConstants.IBV_ADVISE_MR_ADVICE_PREFETCH,
              VerbsConstants.IBV_ADVISE_MR_FLAG_FLUSH,
              at,
              1),
          "ibv_advise_mr of " + bytes + " bytes");
    }
  }

  /** Where a piece is, for a request of this host. */
  long addressOf(long offset, long bytes) {
    long ignored = pointer();
    return (zeroBased ? 0 : address) + Objects.checkFromIndexSize(offset, bytes, length);
  }

  /** Where a piece is that this process reads, whatever the device calls it. */
  long placeOf(long offset, long bytes) {
    long ignored = pointer();
    requireAlive(memory);
    return address + Objects.checkFromIndexSize(offset, bytes, length);
  }

  /** For memory that this process reads: where it was may be nothing any more. */
  static void requireAlive(MemorySegment memory) {
    if (!memory.scope().isAlive()) {
      throw new IllegalStateException("the arena of the region's memory is closed");
    }
  }

  /** The memory, also of a closed region, for requests to keep it alive. */
  MemorySegment kept() {
    return memory;
  }

  /**
   * Closes the region as {@link #close} does, but lets go of the memory at once. The caller knows
   * that no request names it, neither here nor at a peer. For memory that is registered again and
   * again while queue pairs stay open.
   *
   * @throws VerbsException if the library refuses; the region is open then
   */
  public void closeIdle() {
    idle = true;
    close();
  }

  @Override
  int destroy(long region) {
    int status = Ibv.deregMr(region);
    if (status >= 0) {
      if (!idle) {
        domain.retire(memory);
      }
      OPEN.remove(this);
    }
    return status;
  }
}
