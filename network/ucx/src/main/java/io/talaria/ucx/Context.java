// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.ucx;

import static io.talaria.ucx.binding.UcpConstants.UCP_ATTR_FIELD_MEMORY_TYPES;
import static io.talaria.ucx.binding.UcpConstants.UCP_ATTR_FIELD_THREAD_MODE;
import static io.talaria.ucx.binding.UcpConstants.UCP_PARAM_FIELD_ESTIMATED_NUM_EPS;
import static io.talaria.ucx.binding.UcpConstants.UCP_PARAM_FIELD_FEATURES;
import static io.talaria.ucx.binding.UcpConstants.UCP_PARAM_FIELD_MT_WORKERS_SHARED;
import static io.talaria.ucx.binding.UcpConstants.UCP_PARAM_FIELD_TAG_SENDER_MASK;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.talaria.ffi.Libc;
import io.talaria.ffi.NumberLocale;
import io.talaria.ucx.binding.Ucp;
import io.talaria.ucx.binding.UcpStructs.ContextAttr;
import io.talaria.ucx.binding.UcpStructs.Params;
import io.talaria.ucx.binding.UcxLibrary;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.EnumSet;
import java.util.Set;

/**
 * A program's use of UCX: which features, over which transports ({@code ucp_context_h}). Owns its
 * workers and memory regions, which must be closed first. Usable by any thread.
 */
public final class Context implements AutoCloseable {
  private static final int API_MAJOR = 1;
  private static final int API_MINOR = 12;

  private final long handle;
  private static final Set<Feature> STREAMS = EnumSet.of(Feature.STREAM, Feature.WAKEUP);

  private final Set<Feature> features;
  private final long featureBits;
  private final ThreadMode threadMode;
  private final long memoryTypes;
  private int children;
  private boolean closed;

  /** Whether UCX keeps a worker of it. */
  private boolean left;

  private Context(long handle, Options options) {
    this.handle = handle;
    features = options.features;
    featureBits = bits(features);
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment attr = Native.zeroed(arena, ContextAttr.STRUCT);
      attr.set(
          JAVA_LONG,
          ContextAttr.FIELD_MASK,
          UCP_ATTR_FIELD_THREAD_MODE | UCP_ATTR_FIELD_MEMORY_TYPES);
      Status.check(Ucp.contextQuery(handle, attr.address()), "ucp_context_query");
      threadMode = ThreadMode.of(attr.get(JAVA_INT, ContextAttr.THREAD_MODE));
      memoryTypes = attr.get(JAVA_LONG, ContextAttr.MEMORY_TYPES);
    }
  }

  /** How a context is opened. Immutable. */
  public static final class Options {
    private final Set<Feature> features;
    private final long tagSenderMask;
    private final long estimatedEndpoints;

    private Options(Set<Feature> features, long tagSenderMask, long estimatedEndpoints) {
      this.features = features;
      this.tagSenderMask = tagSenderMask;
      this.estimatedEndpoints = estimatedEndpoints;
    }

    /**
     * Starts with features, and UCX's defaults for all else.
     *
     * @param first a feature
     * @param more further ones
     * @return options
     */
    public static Options of(Feature first, Feature... more) {
      return new Options(Set.copyOf(EnumSet.of(first, more)), 0, 0);
    }

    /**
     * Which bits of a tag name the sender.
     *
     * @param mask the bits
     * @return changed options
     */
    public Options tagSenderMask(long mask) {
      return new Options(features, mask, estimatedEndpoints);
    }

    /**
     * How many endpoints there will be, about.
     *
     * @param count a number; 0: unknown
     * @return changed options
     */
    public Options estimatedEndpoints(long count) {
      return new Options(features, tagSenderMask, count);
    }
  }

  /**
   * Opens a context with the settings of the environment.
   *
   * @param options features and more
   * @return a context, to be closed
   * @throws UcxException if UCX refuses
   */
  public static Context open(Options options) {
    try (Config config = Config.read()) {
      return open(options, config);
    }
  }

  /**
   * Opens a context ({@code ucp_init}).
   *
   * @param options features and more
   * @param config the settings
   * @return a context, to be closed
   * @throws UcxException if UCX refuses, for instance because no transport is left
   */
  public static Context open(Options options, Config config) {
    UcxLibrary.required();
    long settings = config.handle();
    return NumberLocale.call(
        () -> {
          try (Arena arena = Arena.ofConfined()) {
            MemorySegment out = arena.allocate(JAVA_LONG);
            MemorySegment params = params(arena, options);
            Status.check(
                Ucp.initVersion(API_MAJOR, API_MINOR, params.address(), settings, out.address()),
                "ucp_init");
            long handle = out.get(JAVA_LONG, 0);
            try {
              return new Context(handle, options);
            } catch (RuntimeException | Error e) {
              Ucp.cleanup(handle);
              throw e;
            }
          }
        });
  }

  private static MemorySegment params(Arena arena, Options options) {
    MemorySegment params = Native.zeroed(arena, Params.STRUCT);
    long mask = UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_MT_WORKERS_SHARED;
    params.set(JAVA_LONG, Params.FEATURES, bits(options.features));
    params.set(JAVA_INT, Params.MT_WORKERS_SHARED, 1);
    if (options.tagSenderMask != 0) {
      mask |= UCP_PARAM_FIELD_TAG_SENDER_MASK;
      params.set(JAVA_LONG, Params.TAG_SENDER_MASK, options.tagSenderMask);
    }
    if (options.estimatedEndpoints > 0) {
      mask |= UCP_PARAM_FIELD_ESTIMATED_NUM_EPS;
      params.set(JAVA_LONG, Params.ESTIMATED_NUM_EPS, options.estimatedEndpoints);
    }
    params.set(JAVA_LONG, Params.FIELD_MASK, mask);
    return params;
  }

  private static long bits(Set<Feature> features) {
    long bits = 0;
    for (Feature feature : features) {
      bits |= feature.bit();
    }
    return bits;
  }

  /**
   * What the context was opened for.
   *
   * @return features
   */
  public Set<Feature> features() {
    return features;
  }

  /**
   * The thread mode that UCX granted ({@code ucp_context_query}): {@link ThreadMode#MULTI} where it
   * was built for threads; otherwise workers of this context must not be used at the same time.
   *
   * @return a mode
   */
  public ThreadMode threadMode() {
    return threadMode;
  }

  /**
   * The kinds of memory that the context handles, a bit each, bit 0 being the host's ({@code
   * ucp_context_query}).
   *
   * @return bits
   */
  public long memoryTypes() {
    return memoryTypes;
  }

  /**
   * What UCX prints about the context: devices and transports ({@code ucp_context_print_info}).
   *
   * @return lines to be displayed
   */
  public synchronized String print() {
    long context = handle();
    return Libc.print(stream -> Ucp.contextPrintInfo(context, stream));
  }

  /** The handle; the caller holds this object's monitor or has a child of it. */
  long handle() {
    if (closed) {
      throw new IllegalStateException("the context is closed");
    }
    return handle;
  }

  /** Throws unless the context was opened for something. Cheap. */
  void require(Feature feature) {
    if ((featureBits & feature.bit()) == 0) {
      throw new IllegalStateException("the context was opened without the feature " + feature);
    }
  }

  /** A worker or a memory region lives from now on. */
  synchronized long adopt() {
    long context = handle();
    children++;
    return context;
  }

  /** Whether its endpoints have no operations but those of streams. */
  boolean hasOnlyStreams() {
    return STREAMS.containsAll(features);
  }

  /** A worker or a memory region is gone. */
  synchronized void disown() {
    children--;
  }

  /** A worker of it is gone for the program, but not for UCX: UCX keeps the context, too. */
  synchronized void disownLeft() {
    children--;
    left = true;
  }

  /**
   * Closes the context ({@code ucp_cleanup}). Does nothing if it is closed.
   *
   * @throws IllegalStateException if workers or memory regions of it are open
   */
  @Override
  public synchronized void close() {
    if (closed) {
      return;
    }
    if (children > 0) {
      throw new IllegalStateException(
          "the context has " + children + " open workers or memory regions; close them first");
    }
    closed = true;
    if (!left) {
      Ucp.cleanup(handle);
    }
  }
}
