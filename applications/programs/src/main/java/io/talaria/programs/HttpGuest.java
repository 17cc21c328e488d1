// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.programs;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;

/** Posts to a server that answers with what was posted, by a client of the JDK of its own. */
final class HttpGuest implements ThirdParty.Guest {
  private final HttpClient client =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  private final URI uri;

  HttpGuest(int port) {
    uri = URI.create("http://127.0.0.1:" + port + "/echo");
  }

  @Override
  public byte[] exchange(byte[] message) throws Exception {
    HttpRequest request =
        HttpRequest.newBuilder(uri)
            .timeout(Duration.ofSeconds(ThirdParty.PATIENCE_S))
            .POST(HttpRequest.BodyPublishers.ofByteArray(message))
            .build();
    return client.send(request, HttpResponse.BodyHandlers.ofByteArray()).body();
  }
}
