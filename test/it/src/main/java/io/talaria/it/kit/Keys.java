// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it.kit;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.Collections;
import javax.net.ssl.KeyManager;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;

/** The key and self-signed certificate of a TLS server, from a PKCS #12 file. Immutable. */
public final class Keys {
  /** What protects the file. */
  public static final String PASSWORD = "talaria";

  private final KeyManager[] own;
  private final TrustManager[] trusted;

  private Keys(KeyManager[] own, TrustManager[] trusted) {
    this.own = own;
    this.trusted = trusted;
  }

  /**
   * Reads a key store.
   *
   * @param file as keytool makes it
   * @return what is in it
   * @throws IOException if it cannot be read
   * @throws GeneralSecurityException if it makes no sense
   */
  public static Keys load(Path file) throws IOException, GeneralSecurityException {
    KeyStore store = KeyStore.getInstance("PKCS12");
    try (InputStream stream = Files.newInputStream(file)) {
      store.load(stream, PASSWORD.toCharArray());
    }
    KeyManagerFactory keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
    keys.init(store, PASSWORD.toCharArray());
    TrustManagerFactory trust =
        TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    KeyStore certificates = KeyStore.getInstance("PKCS12");
    certificates.load(null, null);
    for (String alias : Collections.list(store.aliases())) {
      certificates.setCertificateEntry(alias, store.getCertificate(alias));
    }
    trust.init(certificates);
    return new Keys(keys.getKeyManagers(), trust.getTrustManagers());
  }

  /**
   * What the server proves itself with.
   *
   * @return its key
   */
  public KeyManager[] own() {
    return own.clone();
  }

  /**
   * What the client knows the server by.
   *
   * @return its certificate
   */
  public TrustManager[] trusted() {
    return trusted.clone();
  }

  /**
   * Both, for the JDK's TLS.
   *
   * @return a new context
   * @throws GeneralSecurityException if the JDK has no TLS
   */
  public SSLContext context() throws GeneralSecurityException {
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(own, trusted, null);
    return context;
  }
}
