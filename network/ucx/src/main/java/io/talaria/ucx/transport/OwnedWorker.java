// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.ucx.transport;

import io.talaria.ffi.Libc;
import io.talaria.ffi.MissingLibraryException;
import io.talaria.ucx.Config;
import io.talaria.ucx.Context;
import io.talaria.ucx.ThreadMode;
import io.talaria.ucx.Ucx;
import io.talaria.ucx.UcxException;
import io.talaria.ucx.Worker;
import io.talaria.ucx.WorkerAddress;
import java.io.IOException;
import java.util.Map;
import java.util.Optional;

/**
 * A worker, whose users take turns by {@link Worker#enter}, and the context that it alone uses.
 *
 * @param context of the worker
 * @param worker which threads enter before they use it
 * @param address of the worker
 * @param eventDescriptor readable for events after {@link Worker#arm}
 */
public record OwnedWorker(
    Context context, Worker worker, WorkerAddress address, int eventDescriptor)
    implements AutoCloseable {

  /** How the user of a worker learns that a peer has died. */
  public enum Deaths {
    /** By UCX's keep-alive, among others. */
    FOUND_BY_UCX,

    /**
     * Without UCX, at once. UCX looks after peers no more if it {@linkplain Ucx#needsRepliesSent
     * needs replies sent}, unless {@code UCX_KEEPALIVE_INTERVAL} is set: it would end this process
     * for a dead peer that is owed one.
     */
    TOLD
  }

  /**
   * Ten years: without keep-alive ("inf") UCX would no longer settle at once which endpoint of the
   * peer belongs to one.
   */
  private static final String NEVER = "315360000s";

  /**
   * Loads UCX and opens a worker. Takes some hundred milliseconds, some megabytes and descriptors.
   *
   * @param options of the context, with {@link io.talaria.ucx.Feature#WAKEUP}
   * @param settings of the context, without the prefix {@code UCX_}
   * @param deaths how the caller learns of dead peers
   * @return the worker, which the caller must close; no thread has entered it
   * @throws IOException if that is not possible; the message says what to do
   */
  public static OwnedWorker open(
      Context.Options options, Map<String, String> settings, Deaths deaths) throws IOException {
    try {
      // Before UCX is loaded. UCX uses its shared memory on endpoints with failure detection only
      // with this setting, and would warn of the setting if it may not use shared memory at all.
      Ucx.defaultSetting("UCX_POSIX_ERROR_HANDLING", "y");
      Ucx.defaultSetting("UCX_WARN_UNUSED_ENV_VARS", "n");
    } catch (MissingLibraryException e) {
      throw new IOException(e.getMessage(), e);
    }
    Optional<String> unavailableReason = Ucx.unavailableReason();
    if (unavailableReason.isPresent()) {
      throw new IOException(unavailableReason.get());
    }
    Context context = null;
    Worker worker = null;
    try {
      context = context(options, settings, deaths);
      worker = Worker.open(context, Worker.Options.defaults().threads(ThreadMode.SERIALIZED));
      worker.enter();
      try {
        return new OwnedWorker(context, worker, worker.address(), worker.eventDescriptor());
      } finally {
        worker.exit();
      }
      // from UCX; from the kernel if no descriptor is free
    } catch (UcxException | IllegalStateException e) {
      close(worker, context);
      throw unusable(e);
    } catch (RuntimeException | Error e) {
      close(worker, context);
      throw e;
    }
  }

  private static void close(Worker worker, Context context) {
    if (worker != null) {
      worker.close();
    }
    if (context != null) {
      context.close();
    }
  }

  private static Context context(
      Context.Options options, Map<String, String> settings, Deaths deaths) {
    try (Config config = Config.read()) {
      if (deaths == Deaths.TOLD
          && Ucx.needsRepliesSent()
          && Libc.getenv("UCX_KEEPALIVE_INTERVAL").isEmpty()) {
        config.set("KEEPALIVE_INTERVAL", NEVER);
      }
      settings.forEach(config::set);
      return Context.open(options, config);
    }
  }

  /**
   * Says that UCX is installed but cannot be used.
   *
   * @param cause from UCX or the kernel
   * @return to be thrown
   */
  public static IOException unusable(RuntimeException cause) {
    return new IOException("UCX does not work here: " + cause.getMessage(), cause);
  }

  /** Closes the worker and the context. */
  @Override
  public void close() {
    close(worker, context);
  }
}
