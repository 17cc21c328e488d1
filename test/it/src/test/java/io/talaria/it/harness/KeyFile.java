// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it.harness;

import io.talaria.it.kit.Keys;
import java.io.IOException;
import java.nio.file.Path;

/** Makes the key store of a TLS server on the loopback address. */
public final class KeyFile {
  private KeyFile() {}

  /**
   * Makes a key and a self-signed certificate with keytool.
   *
   * @param file where to; must not exist
   * @return the same
   * @throws IOException if keytool fails
   * @throws InterruptedException if the test's time is up
   */
  public static Path make(Path file) throws IOException, InterruptedException {
    Proc.run(
        Settings.ownJava().resolve("bin/keytool").toString(),
        "-genkeypair",
        "-keystore",
        file.toString(),
        "-storepass",
        Keys.PASSWORD,
        "-alias",
        "server",
        "-keyalg",
        "EC",
        "-groupname",
        "secp256r1",
        "-dname",
        "CN=localhost",
        "-ext",
        "SAN=ip:127.0.0.1,dns:localhost",
        "-validity",
        "36500");
    return file;
  }
}
