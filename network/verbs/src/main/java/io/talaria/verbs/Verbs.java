// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.verbs;

import io.talaria.ffi.MissingLibraryException;
import io.talaria.verbs.binding.CmLibrary;
import io.talaria.verbs.binding.Ibv;
import io.talaria.verbs.binding.RdmaCm;
import io.talaria.verbs.binding.VerbsLibrary;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.StringJoiner;

/**
 * What this host has of RDMA verbs, or what is missing and how to get it.
 *
 * <p>The libraries are loaded on first use and stay: {@code libibverbs.so.1} and {@code
 * librdmacm.so.1}, or the files that the properties {@value #LIBRARY_PROPERTY} and {@value
 * #CM_LIBRARY_PROPERTY} name.
 */
public final class Verbs {
  /** The property that may name the file of libibverbs. */
  public static final String LIBRARY_PROPERTY = VerbsLibrary.PROPERTY;

  /** The property that may name the file of librdmacm. */
  public static final String CM_LIBRARY_PROPERTY = CmLibrary.PROPERTY;

  static final String NO_KERNEL_VERBS =
      "The kernel has no RDMA verbs: load the module ib_uverbs (modprobe ib_uverbs); a kernel built"
          + " without InfiniBand support, as in many virtual machines, has none";

  private static final String NO_CM =
      "The kernel has no RDMA CM: load the module rdma_ucm (modprobe rdma_ucm)";
  private static final Path CLASS_DIRECTORY = Path.of("/sys/class/infiniband");
  private static final int EACCES = 13;
  private static final int EPERM = 1;
  private static final int ENOENT = 2;

  private Verbs() {}

  /**
   * Why no device can be used. Opens each device for a moment.
   *
   * @return nothing if one can be used, or a sentence with the hint: no library, no verbs in the
   *     kernel, no device, a device without driver in the library, or no permission
   */
  public static Optional<String> unavailableReason() {
    try (DeviceList list = DeviceList.open()) {
      if (list.devices().isEmpty()) {
        return Optional.of(noDevice());
      }
      VerbsException last = null;
      for (Device device : list) {
        try {
          device.open().close();
          return Optional.empty();
        } catch (VerbsException e) {
          last = e;
        }
      }
      return Optional.of(last.getMessage());
    } catch (MissingLibraryException | VerbsException e) {
      return Optional.of(e.getMessage());
    }
  }

  /**
   * Why RDMA CM cannot be used.
   *
   * @return nothing if it can be used, or a sentence with the hint
   */
  public static Optional<String> cmUnavailableReason() {
    try {
      CmLibrary.required();
    } catch (MissingLibraryException e) {
      return Optional.of(e.getMessage());
    }
    long channel = RdmaCm.createEventChannel();
    if (channel < 0) {
      return Optional.of(
          new VerbsException((int) channel, "rdma_create_event_channel", cmHint((int) channel))
              .getMessage());
    }
    RdmaCm.destroyEventChannel(channel);
    return Optional.empty();
  }

  /**
   * What to do when RDMA CM answers with an error number.
   *
   * @param errno of either sign
   * @return a sentence
   */
  public static String cmHint(int errno) {
    int number = Math.abs(errno);
    return number == EACCES || number == EPERM
        ? "/dev/infiniband/rdma_cm must be readable and writable by this user"
        : NO_CM;
  }

  /** What to say when the list is empty. */
  static String noDevice() {
    StringJoiner seen = new StringJoiner(", ");
    try (DirectoryStream<Path> entries = Files.newDirectoryStream(CLASS_DIRECTORY)) {
      entries.forEach(entry -> seen.add(entry.getFileName().toString()));
    } catch (IOException e) {
      // The kernel shows none: that is what the sentence says.
    }
    return seen.length() == 0
        ? "There is no RDMA device: plug one in and load its driver, or make a software one, for"
            + " example: rdma link add rxe0 type rxe netdev eth0"
        : "The kernel has "
            + seen
            + ", but libibverbs finds no driver for it: install the package ibverbs-providers, or"
            + " look whether /dev/infiniband is there (containers: --device /dev/infiniband)";
  }

  /** What to say when a device cannot be opened. */
  static String openingHint(int errno) {
    return switch (Math.abs(errno)) {
      case EACCES, EPERM ->
          "Its file /dev/infiniband/uverbs* must be readable and writable by this user: join the"
              + " group that owns it (often rdma), or add a udev rule";
      case ENOENT ->
          "Its file /dev/infiniband/uverbs* is missing: load the module ib_uverbs, or give the"
              + " container --device /dev/infiniband";
      default -> "";
    };
  }

  /**
   * Where libibverbs was found.
   *
   * @return a path or a name
   * @throws MissingLibraryException if there is none
   */
  public static String origin() {
    return VerbsLibrary.required().origin();
  }

  /**
   * Makes registered memory survive {@code fork} ({@code ibv_fork_init}). Call it before anything
   * else; registering costs more afterwards. The JDK starts processes without needing it.
   *
   * @throws VerbsException if the library refuses, for instance because memory is registered
   */
  public static void makeForkSafe() {
    VerbsLibrary.required();
    VerbsException.check(Ibv.forkInit(), "ibv_fork_init");
  }

  /**
   * Whether registered memory survives {@code fork} ({@code ibv_is_fork_initialized}).
   *
   * @return whether it does, because of {@link #makeForkSafe} or because the kernel sees to it
   */
  public static boolean forkSafe() {
    VerbsLibrary.required();
    return Ibv.isForkInitialized() > 0;
  }
}
