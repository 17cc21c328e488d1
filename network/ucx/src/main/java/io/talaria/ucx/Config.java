// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.ucx;

import io.talaria.ffi.Libc;
import io.talaria.ffi.NumberLocale;
import io.talaria.ucx.binding.Ucp;
import io.talaria.ucx.binding.UcsConstants;
import io.talaria.ucx.binding.UcxLibrary;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * The settings with which a {@link Context} is opened ({@code ucp_config_t}): UCX's defaults, then
 * its files and environment, then what {@link #set} changes. To be closed; contexts opened with it
 * do not need it any longer. Not thread-safe.
 */
public final class Config implements AutoCloseable {
  private long handle;

  private Config(long handle) {
    this.handle = handle;
  }

  /**
   * Reads the settings ({@code ucp_config_read}).
   *
   * @return what UCX would use
   * @throws UcxException if the environment has values that UCX does not understand
   */
  public static Config read() {
    UcxLibrary.required();
    return NumberLocale.call(
        () -> {
          try (Arena arena = Arena.ofConfined()) {
            MemorySegment out = arena.allocate(ValueLayout.JAVA_LONG);
            Status.check(Ucp.configRead(0, 0, out.address()), "ucp_config_read");
            return new Config(out.get(ValueLayout.JAVA_LONG, 0));
          }
        });
  }

  /**
   * Changes a setting ({@code ucp_config_modify}).
   *
   * @param name its name without {@code UCX_}, such as {@code TLS}
   * @param value its value, such as {@code posix,tcp}
   * @return this
   * @throws UcxException if UCX does not understand the value. Names that it does not know are
   *     refused by UCX 1.12 and passed over by later ones. Settings of single transports ({@code
   *     POSIX_...}) can be changed here from UCX 1.13 on; before, use {@link Ucx#defaultSetting}
   */
  public Config set(String name, String value) {
    long config = handle();
    return NumberLocale.call(
        () -> {
          try (Arena arena = Arena.ofConfined()) {
            Status.check(
                Ucp.configModify(
                    config,
                    arena.allocateFrom(name).address(),
                    arena.allocateFrom(value).address()),
                "ucp_config_modify of " + name + " to " + value);
            return this;
          }
        });
  }

  /**
   * All settings, as {@code ucx_info -c} would print them ({@code ucp_config_print}).
   *
   * @return lines of {@code UCX_NAME=value}
   */
  public String print() {
    long config = handle();
    try (Arena arena = Arena.ofConfined()) {
      long title = arena.allocateFrom("").address();
      return Libc.print(
          stream -> Ucp.configPrint(config, stream, title, UcsConstants.UCS_CONFIG_PRINT_CONFIG));
    }
  }

  long handle() {
    if (handle == 0) {
      throw new IllegalStateException("the configuration is closed");
    }
    return handle;
  }

  @Override
  public void close() {
    if (handle != 0) {
      Ucp.configRelease(handle);
      handle = 0;
    }
  }
}
