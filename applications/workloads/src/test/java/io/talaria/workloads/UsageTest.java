// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** How the commands explain themselves, and answer wrong usage. */
@Timeout(240)
class UsageTest {
  @ParameterizedTest
  @ValueSource(
      strings = {
        "example counter",
        "example echo",
        "example kvs",
        "bench netty",
        "bench grpc",
        "bench kvs",
        "bench zookeeper",
        "bench bookkeeper"
      })
  void helpHasExamples(String command) throws Exception {
    assertThat(TalariaCommand.run((command + " --help").split(" ", -1)).well().out())
        .contains(
            "Usage: talaria " + command, "Examples:", "Exit status:", "--listen", "--transport");
  }

  @ParameterizedTest
  @ValueSource(strings = {"example messages", "bench messages", "bench mpj"})
  void helpOfMessagesHasExamples(String command) throws Exception {
    assertThat(TalariaCommand.run((command + " --help").split(" ", -1)).well().out())
        .contains("Usage: talaria " + command, "Examples:", "Exit status:");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "example | which example?",
        "example nothing | nothing",
        "example counter -m 0 | --messages must be from 1 to",
        "example counter -m some | '--messages'",
        "example counter --listen --remote x | --listen does not go with --remote",
        "example echo --remote x:99999 | 'x:99999' is no HOST:PORT",
        "example echo --remote :1 | --remote needs a host",
        "example kvs --servers 2 --remote x | --servers does not go with --listen or --remote",
        "bench kvs --servers 2 --listen | --servers does not go with --listen or --remote",
        "example messages --respond | are for one node: say --node, too",
        "bench messages sideways | PATTERN: there is no 'sideways', but throughput, request",
        "bench messages --against smoke | (NAME): there is no 'smoke', but netty-kryo, netty-kryo-agent",
        "bench messages --sizes 17 | --sizes: there is no object of 17 bytes, but of powers of two",
        "bench netty upside-down | PATTERN: there is no 'upside-down', but throughput, ping-pong",
        "bench netty -c 0 | --connections must be from 1 to 10,000",
        "bench netty --transport verbs | 'verbs' is no transport; there are: tcp, shm, ucx",
        "bench netty --transport shm,tcp | --transport: tcp means no Talaria, and stands alone",
        "bench netty --json /nowhere/x | --json: there is no folder /nowhere",
        "bench grpc --call two | --call: there is no 'two', but unary, streaming",
        "bench grpc --iterations 0 | --iterations must be from 1 to 100",
        "bench grpc --quick --seconds 1 | --seconds does not go with --quick",
        "bench grpc --quick --warm-up 1 | --warm-up does not go with --quick"
      })
  void wrongUsageIsTold(String words, String message) throws Exception {
    TalariaCommand.run(words.split(" ", -1)).failed(2, "talaria: ", message, "try: talaria ");
  }
}
