// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.memory;

import io.talaria.nio.privileged.Privileged;
import java.io.IOException;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Field;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.util.concurrent.atomic.AtomicLong;

/**
 * One mapped file, unmapped explicitly: by an arena from JDK 22 (where an access after unmapping
 * throws), by the buffer's cleaner before (where it must not happen).
 */
public final class Mapping implements AutoCloseable {
  /** Where a look goes, or the compiler would leave it out. */
  @SuppressWarnings("unused")
  private static byte lookedAt;

  private static final AtomicLong LIVE = new AtomicLong();
  private static final AtomicLong LIVE_BYTES = new AtomicLong();
  private static final Unmapper UNMAPPER = Privileged.get(Mapping::unmapper);

  private final ByteBuffer buffer;
  private final Object arena;
  private boolean closed;

  private Mapping(ByteBuffer buffer, Object arena) {
    this.buffer = buffer;
    this.arena = arena;
    LIVE.incrementAndGet();
    LIVE_BYTES.addAndGet(buffer.capacity());
  }

  /** Maps the first bytes of a file for reading and writing. Call on the negotiation thread. */
  public static Mapping map(FileChannel file, long bytes) throws IOException {
    try {
      return UNMAPPER.map(file, bytes);
    } catch (IOException | RuntimeException | Error e) {
      throw e;
    } catch (Throwable e) {
      throw new IOException("cannot map " + bytes + " bytes: " + e, e);
    }
  }

  /** Maps a file for as long as the buffer is reachable. Call on the negotiation thread. */
  public static ByteBuffer mapCollected(FileChannel file, long bytes) throws IOException {
    return mapCollected(file, 0, bytes);
  }

  /** Maps a part of a file for as long as the buffer is reachable. */
  public static ByteBuffer mapCollected(FileChannel file, long position, long bytes)
      throws IOException {
    try {
      return UNMAPPER.mapCollected(file, position, bytes).order(ByteOrder.nativeOrder());
    } catch (IOException | RuntimeException | Error e) {
      throw e;
    } catch (Throwable e) {
      throw new IOException("cannot map " + bytes + " bytes: " + e, e);
    }
  }

  /** Number of mappings in this process that are not closed. */
  public static long live() {
    return LIVE.get();
  }

  /** Bytes of the mappings in this process that are not closed. */
  public static long liveBytes() {
    return LIVE_BYTES.get();
  }

  /**
   * Whether all of the file is still behind the mapping; a file is cut short from its end.
   * Negotiation thread.
   */
  public boolean intact() {
    return closed || intact(buffer);
  }

  /** Whether all of a file is still behind a buffer that maps it. */
  public static boolean intact(ByteBuffer mapped) {
    Faults.clear();
    try {
      lookedAt = mapped.get(mapped.capacity() - 1);
      Faults.take();
      return true;
    } catch (InternalError e) {
      return false;
    }
  }

  /** Whether it has been unmapped. */
  public boolean closed() {
    return closed;
  }

  public ByteBuffer buffer() {
    return buffer;
  }

  @Override
  public void close() {
    if (closed) {
      return;
    }
    closed = true;
    LIVE.decrementAndGet();
    LIVE_BYTES.addAndGet(-buffer.capacity());
    try {
      UNMAPPER.unmap(this);
    } catch (RuntimeException | Error e) {
      throw e;
    } catch (Throwable e) {
      throw new IllegalStateException("cannot unmap: " + e, e);
    }
  }

  private interface Unmapper {
    Mapping map(FileChannel file, long bytes) throws Throwable;

    void unmap(Mapping mapping) throws Throwable;

    default ByteBuffer mapCollected(FileChannel file, long position, long bytes) throws Throwable {
      return file.map(FileChannel.MapMode.READ_WRITE, position, bytes);
    }
  }

  private static Unmapper unmapper() {
    try {
      return new ArenaUnmapper();
    } catch (ReflectiveOperationException e) {
      // Before JDK 22 there is no final Arena.
      try {
        return new CleanerUnmapper();
      } catch (ReflectiveOperationException noUnsafe) {
        return new CollectorUnmapper();
      }
    }
  }

  /**
   * Also for mappings that the collector unmaps: the channel's other method makes its buffer by
   * reflection, for which the JVM makes two dozen classes at the first call, in a process that has
   * just started.
   */
  private static final class ArenaUnmapper implements Unmapper {
    private final MethodHandle ofShared;
    private final MethodHandle ofAuto;
    private final MethodHandle map;
    private final MethodHandle asByteBuffer;

    ArenaUnmapper() throws ReflectiveOperationException {
      if (Runtime.version().feature() < 22) {
        throw new NoSuchMethodException("Arena is final from JDK 22");
      }
      MethodHandles.Lookup lookup = MethodHandles.publicLookup();
      Class<?> arena = Class.forName("java.lang.foreign.Arena");
      Class<?> segment = Class.forName("java.lang.foreign.MemorySegment");
      ofShared = lookup.findStatic(arena, "ofShared", MethodType.methodType(arena));
      ofAuto = lookup.findStatic(arena, "ofAuto", MethodType.methodType(arena));
      map =
          lookup.findVirtual(
              FileChannel.class,
              "map",
              MethodType.methodType(
                  segment, FileChannel.MapMode.class, long.class, long.class, arena));
      asByteBuffer =
          lookup.findVirtual(segment, "asByteBuffer", MethodType.methodType(ByteBuffer.class));
    }

    @Override
    public Mapping map(FileChannel file, long bytes) throws Throwable {
      AutoCloseable arena = (AutoCloseable) ofShared.invoke();
      try {
        ByteBuffer buffer = map(file, 0, bytes, arena);
        return new Mapping(buffer.order(ByteOrder.nativeOrder()), arena);
      } catch (Throwable e) {
        arena.close();
        throw e;
      }
    }

    @Override
    public void unmap(Mapping mapping) throws Exception {
      ((AutoCloseable) mapping.arena).close();
    }

    @Override
    public ByteBuffer mapCollected(FileChannel file, long position, long bytes) throws Throwable {
      return map(file, position, bytes, (AutoCloseable) ofAuto.invoke());
    }

    private ByteBuffer map(FileChannel file, long position, long bytes, AutoCloseable arena)
        throws Throwable {
      Object segment = map.invoke(file, FileChannel.MapMode.READ_WRITE, position, bytes, arena);
      return (ByteBuffer) asByteBuffer.invoke(segment);
    }
  }

  private static final class CleanerUnmapper implements Unmapper {
    private final MethodHandle invokeCleaner;

    CleanerUnmapper() throws ReflectiveOperationException {
      Class<?> unsafe = Class.forName("sun.misc.Unsafe");
      Field instance = unsafe.getDeclaredField("theUnsafe");
      instance.setAccessible(true);
      invokeCleaner =
          MethodHandles.publicLookup()
              .findVirtual(
                  unsafe, "invokeCleaner", MethodType.methodType(void.class, ByteBuffer.class))
              .bindTo(instance.get(null));
    }

    @Override
    public Mapping map(FileChannel file, long bytes) throws IOException {
      return plainMap(file, bytes);
    }

    @Override
    public void unmap(Mapping mapping) throws Throwable {
      invokeCleaner.invoke(mapping.buffer);
    }
  }

  /** For a JDK that offers neither way: the collector unmaps. */
  private static final class CollectorUnmapper implements Unmapper {
    @Override
    public Mapping map(FileChannel file, long bytes) throws IOException {
      return plainMap(file, bytes);
    }

    @Override
    public void unmap(Mapping mapping) {
      // Nothing to do but to forget the buffer.
    }
  }

  private static Mapping plainMap(FileChannel file, long bytes) throws IOException {
    return new Mapping(mapCollected(file, bytes), null);
  }
}
