// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.compare;

import com.fasterxml.jackson.databind.JsonNode;
import io.talaria.cli.harness.HostPort;
import io.talaria.cli.harness.Json;
import java.io.IOException;

/**
 * What a child JVM is told to do.
 *
 * @param server whether it is a server
 * @param where where to listen, or to connect to
 * @param job what else it must know, as the workload says
 */
public record Task(boolean server, HostPort where, JsonNode job) {
  /**
   * Returns the job.
   *
   * @param <T> its type
   * @param type its type
   * @throws IOException if it is of another shape
   */
  public <T> T job(Class<T> type) throws IOException {
    return Json.as(job, type);
  }
}
