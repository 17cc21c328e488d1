// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.link;

import io.talaria.bench.plan.BindingKind;
import io.talaria.cli.doctor.checks.RdmaDevices;
import io.talaria.ucx.Ucx;
import io.talaria.verbs.Verbs;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/** Finds the implementation of a binding. A new library is named here and in the enum. */
public final class Bindings {
  private Bindings() {}

  /**
   * Loads what a binding needs beyond this program.
   *
   * @param kind which library
   * @return why it cannot be used, with the hint; nothing if it is loaded
   */
  public static Optional<String> load(BindingKind kind) {
    if (kind.sockets()) {
      return Optional.empty();
    }
    if (kind.verbs()) {
      return Verbs.unavailableReason().map(Bindings::asTheDoctorSays);
    }
    return Ucx.unavailableReason()
        .or(() -> kind == BindingKind.JUCX ? Jucx.unavailableReason() : Optional.empty());
  }

  /** Without any device it is the doctor's sentence; else what verbs say is more to the point. */
  private static String asTheDoctorSays(String unavailableReason) {
    return hasDevices() ? unavailableReason : RdmaDevices.missing();
  }

  private static boolean hasDevices() {
    try (DirectoryStream<Path> devices =
        Files.newDirectoryStream(Path.of("/sys/class/infiniband"))) {
      return devices.iterator().hasNext();
    } catch (IOException e) {
      return false;
    }
  }

  /**
   * Returns the release of the library that a binding has loaded.
   *
   * @param kind which library
   * @return empty if it has none of its own
   */
  public static String release(BindingKind kind) {
    return kind.ucx() ? Ucx.version() : "";
  }

  /**
   * Makes the beginning of a connection.
   *
   * @param kind which library
   * @param setup what it is for
   */
  public static Binding create(BindingKind kind, Binding.Setup setup) {
    return switch (kind) {
      case NET -> new NetBinding(setup);
      case NIO -> new ChannelBinding(setup, BlockingLink::new);
      case NIO_SELECT -> new ChannelBinding(setup, channel -> new SelectorLink(channel, true));
      case NIO_SPIN -> new ChannelBinding(setup, channel -> new SelectorLink(channel, false));
      case NETTY -> new NettyBinding(setup);
      case JUCX -> new JucxBinding(setup);
      case VERBS_MESSAGE -> new VerbsBinding(setup, true, VerbsMessageLink::new);
      case VERBS_WRITE -> new VerbsBinding(setup, false, VerbsWriteLink::new);
      case VERBS_READ -> new VerbsBinding(setup, false, VerbsReadLink::new);
      case VERBS_NET -> new VerbsNetBinding(setup);
      default -> new UcxBinding(kind, setup);
    };
  }
}
