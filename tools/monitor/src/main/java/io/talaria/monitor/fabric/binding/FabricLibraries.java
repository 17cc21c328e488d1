// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.monitor.fabric.binding;

import io.talaria.ffi.LibrarySpec;
import io.talaria.ffi.MissingLibraryException;
import io.talaria.ffi.NativeLibrary;
import java.util.List;

/** The three libraries, which the loader searches when they are first wanted. */
public final class FabricLibraries {
  private static final String HINT = "Install the package ";

  /** The property that names the file of libibumad. */
  public static final String UMAD_PROPERTY = "talaria.ibumad.library";

  /** The property that names the file of libibmad. */
  public static final String MAD_PROPERTY = "talaria.ibmad.library";

  /** The property that names the file of libibnetdisc. */
  public static final String NETDISC_PROPERTY = "talaria.ibnetdisc.library";

  private FabricLibraries() {}

  /**
   * Opens libibumad: messages to ports.
   *
   * @return the library
   * @throws MissingLibraryException if there is none
   */
  public static NativeLibrary umad() {
    return open("libibumad", UMAD_PROPERTY, "libibumad.so.3", "libibumad3");
  }

  /**
   * Opens libibmad: what the messages say.
   *
   * @return the library
   * @throws MissingLibraryException if there is none
   */
  public static NativeLibrary mad() {
    return open("libibmad", MAD_PROPERTY, "libibmad.so.5", "libibmad5");
  }

  /**
   * Opens libibnetdisc: who is in the fabric.
   *
   * @return the library
   * @throws MissingLibraryException if there is none
   */
  public static NativeLibrary netdisc() {
    return open("libibnetdisc", NETDISC_PROPERTY, "libibnetdisc.so.5", "libibnetdisc5");
  }

  private static NativeLibrary open(String name, String property, String file, String debian) {
    return NativeLibrary.open(
        new LibrarySpec(
            name,
            property,
            List.of(file),
            HINT
                + debian
                + " (Debian, Ubuntu) or "
                + (name.equals("libibumad") ? "libibumad" : "infiniband-diags")
                + " (Fedora, RHEL)."));
  }
}
