// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.negotiation;

import io.talaria.nio.Reason;
import io.talaria.nio.fabric.Fabric;
import io.talaria.nio.fabric.FabricException;
import io.talaria.nio.negotiation.Wire.Hello;
import io.talaria.nio.process.Host;
import java.nio.ByteBuffer;

/** What the two sides of a {@link Session} tell each other first, and what may stand there. */
final class Greeting {
  private Greeting() {}

  /** What this side says when it dials. */
  static ByteBuffer hello(Fabric fabric, ByteBuffer payload) {
    return Wire.hello(
        new Hello(
            Wire.VERSION,
            Host.pid(),
            Host.bootId(),
            Host.networkNamespace(),
            fabric.name(),
            payload));
  }

  /**
   * The fabric that a peer has dialled for.
   *
   * @param link of a session between hosts, or null
   * @throws FabricException if there is none for that peer, with the reason that it is told
   */
  static Fabric fabric(Hello hello, SessionLink link, LocalFabrics fabrics) throws FabricException {
    if (hello.version() != Wire.VERSION) {
      throw rejected(Reason.VERSION_MISMATCH, "version " + hello.version());
    }
    if (link != null) {
      return known(link.fabric(hello.fabric()), Reason.NO_UCX, hello);
    }
    if (!hello.bootId().equals(Host.bootId())) {
      throw rejected(Reason.OTHER_BOOT, "boot " + hello.bootId());
    }
    if (!hello.networkNamespace().equals(Host.networkNamespace())) {
      throw rejected(Reason.OTHER_NAMESPACE, "network " + hello.networkNamespace());
    }
    return known(fabrics.usable(hello.fabric()), Reason.REFUSED, hello);
  }

  private static Fabric known(Fabric fabric, Reason unknown, Hello hello) throws FabricException {
    if (fabric == null) {
      throw rejected(unknown, "fabric " + hello.fabric());
    }
    return fabric;
  }

  private static FabricException rejected(Reason reason, String what) {
    return new FabricException(reason, "the peer has greeted with " + what);
  }

  /** A peer names files of its own process only, so it must have said which that is. */
  static long known(long pid) throws MalformedFrameException {
    if (pid <= 0) {
      throw new MalformedFrameException("process id " + pid);
    }
    return pid;
  }
}
