// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.ucx;

import static io.talaria.ucx.binding.UcpConstants.UCP_LIB_ATTR_FIELD_MAX_THREAD_LEVEL;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.talaria.ffi.Libc;
import io.talaria.ffi.MissingLibraryException;
import io.talaria.ffi.NativeLibrary;
import io.talaria.ucx.binding.Ucp;
import io.talaria.ucx.binding.UcpStructs.LibAttr;
import io.talaria.ucx.binding.UcxLibrary;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Optional;

/**
 * The UCX that is installed: whether there is one, its release, what it can do.
 *
 * <p>The library is loaded on first use and stays. It is found by the property {@value #PROPERTY},
 * or else by the loader as {@code libucp.so.0}. It leaves the JVM's signals and standard output
 * alone: its messages go to standard error unless {@code UCX_LOG_FILE} says otherwise.
 */
public final class Ucx {
  /** The property that may name the file of libucp. */
  public static final String PROPERTY = UcxLibrary.PROPERTY;

  private Ucx() {}

  /** What depends on the release of UCX. */
  public enum Capability {
    /** {@link Endpoint#localAddress} and {@link Endpoint#remoteAddress}: {@code ucp_ep_query}. */
    ENDPOINT_QUERY,
    /**
     * {@link Endpoint#transports} by a query, from UCX 1.14 on; before, it is read from what {@code
     * ucp_ep_print_info} prints.
     */
    TRANSPORT_QUERY
  }

  /**
   * Why UCX cannot be used.
   *
   * @return nothing if it can be used, or a sentence with the hint
   */
  public static Optional<String> unavailableReason() {
    try {
      UcxLibrary.required();
      return Optional.empty();
    } catch (MissingLibraryException e) {
      return Optional.of(e.getMessage());
    }
  }

  /**
   * The release that is loaded ({@code ucp_get_version}).
   *
   * @return three numbers, such as {@code 1.13.1}
   * @throws MissingLibraryException if there is none
   */
  public static String version() {
    UcxLibrary ucx = UcxLibrary.required();
    return ucx.major() + "." + ucx.minor() + "." + ucx.release();
  }

  /**
   * Whether UCX ends the process if an endpoint fails or is closed before UCX has sent its reply to
   * the peer's. The assertion is in releases before 1.14.
   *
   * @return whether the release that is loaded does
   * @throws MissingLibraryException if there is none
   */
  public static boolean needsRepliesSent() {
    UcxLibrary ucx = UcxLibrary.required();
    return ucx.major() == 1 && ucx.minor() < 14;
  }

  /**
   * Where the library was found.
   *
   * @return a path or a name
   * @throws MissingLibraryException if there is none
   */
  public static String origin() {
    return UcxLibrary.required().origin();
  }

  /**
   * How many threads at once the library was built for ({@code ucp_lib_query}).
   *
   * @return {@link ThreadMode#MULTI}, or less
   * @throws MissingLibraryException if there is none
   */
  public static ThreadMode maxThreadMode() {
    UcxLibrary.required();
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment attr = Native.zeroed(arena, LibAttr.STRUCT);
      attr.set(JAVA_LONG, LibAttr.FIELD_MASK, UCP_LIB_ATTR_FIELD_MAX_THREAD_LEVEL);
      Status.check(Ucp.libQuery(attr.address()), "ucp_lib_query");
      return ThreadMode.of(attr.get(JAVA_INT, LibAttr.MAX_THREAD_LEVEL));
    }
  }

  /**
   * Whether the library can do something that not every release can.
   *
   * @param capability what is asked for
   * @return whether it can
   * @throws MissingLibraryException if there is no library
   */
  public static boolean has(Capability capability) {
    UcxLibrary ucx = UcxLibrary.required();
    return switch (capability) {
      case ENDPOINT_QUERY -> ucx.has("ucp_ep_query");
      case TRANSPORT_QUERY -> ucx.has("ucp_ep_query") && ucx.atLeast(14);
    };
  }

  /**
   * Gives a setting of UCX another default for this process: the environment variable is set unless
   * the user has set it. For settings that must be there before {@link Config#read}; a {@link
   * Config} is preferable where it reaches.
   *
   * @param name the variable, such as {@code UCX_POSIX_ERROR_HANDLING}
   * @param value its value
   * @throws MissingLibraryException if the JVM denies native access
   */
  public static void defaultSetting(String name, String value) {
    if (!name.startsWith("UCX_")) {
      throw new IllegalArgumentException(name + " is no setting of UCX: they start with UCX_");
    }
    NativeLibrary.requireNativeAccess(Ucx.class.getModule());
    Libc.setenv(name, value, false);
  }
}
