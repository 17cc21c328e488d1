// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.jucx;

import io.talaria.nio.ucx.binding.BindingException;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.openucx.jucx.UcxException;
import org.openucx.jucx.ucp.UcpContext;
import org.openucx.jucx.ucp.UcpParams;
import org.openucx.jucx.ucp.UcpRequestParams;
import org.openucx.jucx.ucp.UcpWorkerParams;
import org.openucx.jucx.ucs.UcsConstants;

/** UCX's context. Never closed: UCX lives as long as the process. */
final class JucxContext {
  private static final String PREFIX = "UCX_";
  private static final String TRANSPORTS = "UCX_TLS";

  /**
   * For every operation: newer releases of JUCX call «unknown» by a number that an older UCX does
   * not know, and refuses.
   */
  final UcpRequestParams inMainMemory =
      new UcpRequestParams().setMemoryType(UcsConstants.MEMORY_TYPE.UCS_MEMORY_TYPE_HOST);

  /** What {@code UCX_TLS} calls shared memory in its forms, and a process's way to itself. */
  private static final Set<String> ON_ONE_HOST =
      Set.of("posix", "sysv", "xpmem", "self", "shm", "sm", "mm");

  /** What may carry the bytes; none: whatever UCX finds. */
  final List<String> transports;

  /**
   * Whether a worker's event descriptor stays readable until the worker is armed or progressed, as
   * shared memory's does. With network cards UCX's own threads may take an event away.
   */
  final boolean onlyArmingTakesEvents;

  private final UcpContext context;

  /**
   * Opens it.
   *
   * @param settings as environment variables, for those that the user has not set; only those of
   *     the context itself reach UCX this way
   * @throws BindingException if UCX refuses
   */
  JucxContext(Map<String, String> settings) {
    UcpParams params =
        new UcpParams()
            .requestStreamFeature()
            .requestTagFeature()
            .requestWakeupFeature()
            .setMtWorkersShared(true);
    String wanted = System.getenv(TRANSPORTS);
    if (wanted == null) {
      wanted = settings.get(TRANSPORTS);
      if (wanted != null) {
        params.setConfig(TRANSPORTS.substring(PREFIX.length()), wanted);
      }
    }
    transports = wanted == null ? List.of() : List.of(wanted.split(","));
    onlyArmingTakesEvents = !transports.isEmpty() && ON_ONE_HOST.containsAll(transports);
    try {
      context = new UcpContext(params);
    } catch (UcxException e) {
      throw new BindingException(e.getMessage(), e);
    }
  }

  JucxWorker openWorker() {
    try {
      return new JucxWorker(this, context.newWorker(new UcpWorkerParams().requestThreadSafety()));
    } catch (UcxException e) {
      throw new BindingException(e.getMessage(), e);
    }
  }
}
