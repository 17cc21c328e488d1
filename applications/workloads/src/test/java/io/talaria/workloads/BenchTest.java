// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.talaria.cli.harness.Json;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The benchmarks from end to end, in their shortest form. */
@Timeout(300)
class BenchTest {
  @TempDir private Path folder;

  @Test
  void nettyOnBothTransports() throws Exception {
    JsonNode json =
        measure(Stream.of("netty", "throughput", "ping-pong", "-l", "70000", "-c", "2", "-t", "3"));
    checkBoth(json, "throughput/70000/2/rate", "throughput/70000/2/bytes");
    checkBoth(json, "ping-pong/70000/2/rate", "ping-pong/70000/2/p50");
  }

  @Test
  void nettyOnManyConnections() throws Exception {
    String[] words = {
      "netty", "scaling", "-c", "1,40,40", "--event-loops", "2", "--in-flight", "2"
    };
    JsonNode json = measure(Stream.concat(Stream.of(words), Stream.of("--transport=tcp")));
    assertThat(json.path("measures")).hasSize(4);
    assertThat(measured(json, "scaling/16/40/rate").path("jdk").path("median").asDouble())
        .isPositive();
    assertThat(measured(json, "scaling/16/40/rate").path("talaria").isNull()).isTrue();
    assertThat(measured(json, "scaling/16/40/rate").path("iterations").path("JDK"))
        .as("once, though named twice")
        .hasSize(1);
  }

  @Test
  void grpcOnBothTransports() throws Exception {
    grpcOnBothTransports("async");
  }

  @Tag("long")
  @Test
  void blockingClientsOfGrpcOnBothTransports() throws Exception {
    grpcOnBothTransports("blocking");
  }

  private void grpcOnBothTransports(String client) throws Exception {
    String[] words = {"grpc", "--client", client, "-l", "1K", "-c", "2", "--in-flight", "3"};
    JsonNode json = measure(Stream.of(words));
    for (String call : new String[] {"unary", "streaming"}) {
      String id = call + "/" + client + "/1024/2";
      checkBoth(json, id + "/rate", id + "/p50");
    }
  }

  /** What the agent takes from gRPC can be measured: its own transport beside NIO. */
  @Test
  void grpcOnTheNativeTransport() throws Exception {
    JsonNode json =
        measure(Stream.of("grpc", "--call=unary", "--client=async", "--transport=tcp", "--epoll"));
    JsonNode iterations = measured(json, "unary/async/16/1/rate").path("iterations");
    assertThat(iterations.path("JDK")).hasSize(1);
    assertThat(iterations.path("NETTY_EPOLL")).hasSize(1);
  }

  @Test
  void nettyBetweenTwoCommands() throws Exception {
    betweenTwoCommands("netty", "ping-pong", "-l", "16");
  }

  @Test
  void grpcBetweenTwoCommands() throws Exception {
    betweenTwoCommands("grpc", "--call", "unary", "--client", "blocking");
  }

  private void betweenTwoCommands(String... words) throws Exception {
    try (TalariaCommand server = TalariaCommand.server("bench", words[0])) {
      JsonNode json =
          measure(Stream.concat(Stream.of(words), Stream.of("--remote", server.address())));
      assertThat(json.path("measures")).hasSize(2);
      for (JsonNode measure : json.path("measures")) {
        assertThat(measure.path("talaria").path("median").asDouble()).isPositive();
        assertThat(measure.path("jdk").isNull()).isTrue();
      }
    }
  }

  @Test
  void nobodyListens() throws Exception {
    try (Socket nobody = TalariaCommand.nobody()) {
      String address = "127.0.0.1:" + nobody.getLocalPort();
      for (String one : List.of("netty ping-pong -l 16", "grpc --call unary --client async")) {
        String words = "bench " + one + " --quick --transport=tcp --remote " + address;
        TalariaCommand.run(words.split(" ", -1))
            .failed(1, "cannot connect to " + address + ": Connection refused", "--listen");
      }
    }
  }

  /** Runs a benchmark, and returns what it wrote. */
  private JsonNode measure(Stream<String> words) throws Exception {
    Path file = folder.resolve("found.json");
    String[] usual = {
      "--iterations", "1", "--seconds", "0.05", "--warm-up", "0.01", "--no-pin", "--json", "" + file
    };
    String[] all =
        Stream.of(Stream.of("bench"), words, Stream.of(usual))
            .flatMap(some -> some)
            .toArray(String[]::new);
    TalariaCommand.Ended ended = TalariaCommand.run(all).well();
    assertThat(ended.out()).contains("Measure", "Written: " + file);
    assertThat(ended.err())
        .contains(", " + (List.of(all).contains("--transport=tcp") ? "JDK" : "Talaria"));
    assertThat(ended.out().contains("Connections on Talaria, "))
        .isEqualTo(!List.of(all).contains("--transport=tcp"));
    return Json.parse(Files.readString(file));
  }

  private static void checkBoth(JsonNode json, String... ids) {
    for (String id : ids) {
      JsonNode measure = measured(json, id);
      assertThat(measure.path("jdk").path("median").asDouble()).as(id).isPositive();
      assertThat(measure.path("talaria").path("median").asDouble()).as(id).isPositive();
      assertThat(measure.path("ratio").asDouble()).as(id).isPositive();
    }
  }

  private static JsonNode measured(JsonNode json, String id) {
    for (JsonNode measure : json.path("measures")) {
      if (measure.path("id").asText().equals(id)) {
        return measure;
      }
    }
    throw new AssertionError("no " + id + " in " + json.path("measures"));
  }
}
