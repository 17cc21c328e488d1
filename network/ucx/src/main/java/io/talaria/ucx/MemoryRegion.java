// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.ucx;

import static io.talaria.ucx.binding.UcpConstants.UCP_MEM_ATTR_FIELD_ADDRESS;
import static io.talaria.ucx.binding.UcpConstants.UCP_MEM_ATTR_FIELD_LENGTH;
import static io.talaria.ucx.binding.UcpConstants.UCP_MEM_MAP_ALLOCATE;
import static io.talaria.ucx.binding.UcpConstants.UCP_MEM_MAP_NONBLOCK;
import static io.talaria.ucx.binding.UcpConstants.UCP_MEM_MAP_PARAM_FIELD_ADDRESS;
import static io.talaria.ucx.binding.UcpConstants.UCP_MEM_MAP_PARAM_FIELD_FLAGS;
import static io.talaria.ucx.binding.UcpConstants.UCP_MEM_MAP_PARAM_FIELD_LENGTH;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.talaria.ffi.Raw;
import io.talaria.ucx.binding.Ucp;
import io.talaria.ucx.binding.UcpStructs.MemAttr;
import io.talaria.ucx.binding.UcpStructs.MemMapParams;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Memory that the network may access by itself ({@code ucp_mem_h}): the program's own, or allocated
 * by UCX. Belongs to its context, which cannot be closed before. Usable by any thread, one at a
 * time where the context's thread mode says so.
 */
public final class MemoryRegion implements AutoCloseable {
  private final Context context;
  private final MemorySegment memory;
  private final Arena lifetime;
  private long handle;

  private MemoryRegion(Context context, long handle, MemorySegment memory, Arena lifetime) {
    this.context = context;
    this.handle = handle;
    this.memory = memory;
    this.lifetime = lifetime;
  }

  /**
   * Registers memory of the program ({@code ucp_mem_map}). Its arena must stay open until the
   * region is closed.
   *
   * @param context where it will be used
   * @param memory native memory, not empty
   * @return a region, to be closed
   * @throws UcxException if UCX refuses, for instance because the limit of locked memory is reached
   */
  public static MemoryRegion register(Context context, MemorySegment memory) {
    long address = Native.writable(memory, 0, memory.byteSize());
    requireBytes(memory.byteSize());
    long parent = context.adopt();
    try {
      long handle = map(parent, address, memory.byteSize(), 0);
      return new MemoryRegion(context, handle, memory, null);
    } catch (RuntimeException | Error e) {
      context.disown();
      throw e;
    }
  }

  /**
   * Has UCX allocate memory, preferably such as others can reach by shared memory ({@code
   * ucp_mem_map} with {@code UCP_MEM_MAP_ALLOCATE}). It is gone when the region is closed.
   *
   * @param context where it will be used
   * @param bytes how much at least
   * @return a region, to be closed
   * @throws UcxException if UCX refuses
   */
  public static MemoryRegion allocate(Context context, long bytes) {
    requireBytes(bytes);
    long parent = context.adopt();
    try {
      long handle = map(parent, 0, bytes, UCP_MEM_MAP_ALLOCATE | UCP_MEM_MAP_NONBLOCK);
      try {
        Arena lifetime = Arena.ofShared();
        return new MemoryRegion(context, handle, segment(handle, lifetime), lifetime);
      } catch (RuntimeException | Error e) {
        int ignored = Ucp.memUnmap(parent, handle);
        throw e;
      }
    } catch (RuntimeException | Error e) {
      context.disown();
      throw e;
    }
  }

  private static void requireBytes(long bytes) {
    if (bytes <= 0) {
      throw new IllegalArgumentException("a memory region of " + bytes + " bytes");
    }
  }

  private static long map(long context, long address, long length, long flags) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment params = Native.zeroed(arena, MemMapParams.STRUCT);
      long mask = UCP_MEM_MAP_PARAM_FIELD_LENGTH | UCP_MEM_MAP_PARAM_FIELD_FLAGS;
      if (address != 0) {
        mask |= UCP_MEM_MAP_PARAM_FIELD_ADDRESS;
        params.set(JAVA_LONG, MemMapParams.ADDRESS, address);
      }
      params.set(JAVA_LONG, MemMapParams.LENGTH, length);
      params.set(JAVA_INT, MemMapParams.FLAGS, (int) flags);
      params.set(JAVA_LONG, MemMapParams.FIELD_MASK, mask);
      MemorySegment out = arena.allocate(JAVA_LONG);
      Status.check(
          Ucp.memMap(context, params.address(), out.address()),
          "ucp_mem_map of " + length + " bytes");
      return out.get(JAVA_LONG, 0);
    }
  }

  @SuppressWarnings("restricted")
  private static MemorySegment segment(long handle, Arena lifetime) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment attr = Native.zeroed(arena, MemAttr.STRUCT);
      attr.set(
          JAVA_LONG, MemAttr.FIELD_MASK, UCP_MEM_ATTR_FIELD_ADDRESS | UCP_MEM_ATTR_FIELD_LENGTH);
      Status.check(Ucp.memQuery(handle, attr.address()), "ucp_mem_query");
      return MemorySegment.ofAddress(attr.get(JAVA_LONG, MemAttr.ADDRESS))
          .reinterpret(attr.get(JAVA_LONG, MemAttr.LENGTH), lifetime, null);
    }
  }

  /**
   * The memory ({@code ucp_mem_query} where UCX has allocated it).
   *
   * @return a segment; one that UCX has allocated lives as long as the region
   */
  public MemorySegment memory() {
    handle();
    return memory;
  }

  /**
   * What a peer needs to reach the region ({@code ucp_rkey_pack}).
   *
   * @return a key, to be sent to the peer by some other way
   * @throws UcxException if UCX refuses
   */
  public synchronized RemoteKey pack() {
    long region = handle();
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment out = arena.allocate(JAVA_LONG, 2);
      Status.check(
          Ucp.rkeyPack(context.handle(), region, out.address(), out.address() + 8),
          "ucp_rkey_pack");
      long buffer = out.getAtIndex(JAVA_LONG, 0);
      byte[] raw = new byte[Math.toIntExact(out.getAtIndex(JAVA_LONG, 1))];
      Raw.copy(buffer, raw, 0, raw.length);
      Ucp.rkeyBufferRelease(buffer);
      return new RemoteKey(memory.address(), memory.byteSize(), raw);
    }
  }

  /**
   * The context it belongs to.
   *
   * @return the context
   */
  public Context context() {
    return context;
  }

  /** The handle. */
  synchronized long handle() {
    if (handle == 0) {
      throw new IllegalStateException("the memory region is closed");
    }
    return handle;
  }

  /**
   * Ends the registration, and frees what UCX has allocated ({@code ucp_mem_unmap}). Nothing may be
   * under way with it. Does nothing if it is closed.
   *
   * @throws IllegalStateException if a call in another thread uses memory that UCX has allocated:
   *     the region stays open
   */
  @Override
  public synchronized void close() {
    if (handle == 0) {
      return;
    }
    if (lifetime != null) {
      // Throws while a call uses the memory, and can be tried again then.
      lifetime.close();
    }
    long region = handle;
    handle = 0;
    try {
      Status.check(Ucp.memUnmap(context.handle(), region), "ucp_mem_unmap");
    } finally {
      context.disown();
    }
  }
}
