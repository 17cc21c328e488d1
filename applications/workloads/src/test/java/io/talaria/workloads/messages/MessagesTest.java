// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.messages;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.entry;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import com.fasterxml.jackson.databind.JsonNode;
import io.talaria.bench.compare.Timing;
import io.talaria.bench.harness.Pinning;
import io.talaria.cli.harness.Json;
import io.talaria.messaging.Dispatch;
import io.talaria.workloads.TalariaCommand;
import io.talaria.workloads.messages.objects.Block;
import io.talaria.workloads.messages.objects.Eight;
import io.talaria.workloads.messages.objects.Mutable;
import io.talaria.workloads.messages.objects.Receipt;
import io.talaria.workloads.messages.objects.Sizes;
import io.talaria.workloads.messages.objects.Tally;
import io.talaria.workloads.messages.objects.Two;
import io.talaria.workloads.messages.wire.MessagesImplementation;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The example messages and the benchmark of that name, from end to end; {@link NodesTest} has the
 * patterns of several nodes.
 */
@Timeout(240)
class MessagesTest {
  @Test
  void anotherProcessRespondsToEachLine() throws Exception {
    try (TalariaCommand example = TalariaCommand.start("example", "messages")) {
      example.type("hello\n");
      example.awaitOutput("HELLO (node 2, shm)\n");
      example.type("again");
      assertThat(example.end().well().out())
          .isEqualTo("HELLO (node 2, shm)\nAGAIN (node 2, shm)\n");
    }
  }

  @Test
  void nodesFindEachOtherOnThisHost() throws Exception {
    try (TalariaCommand there =
            TalariaCommand.start("example", "messages", "--node", "40002", "--respond");
        TalariaCommand here = TalariaCommand.start("example", "messages", "--node", "40001")) {
      there.awaitError("responds");
      here.type("40002 how are you?\n");
      here.awaitOutput("HOW ARE YOU? (node 40002, shm)\n");
      here.end().well();
      there.kill();
    }
  }

  @Test
  void nobodyThereIsTold() {
    assertThat(
            TalariaCommand.runWith("40009 hello\n", "example", "messages", "--node", "40001").out())
        .contains("UNREACHABLE: node 40009 is not announced on this host");
  }

  @Test
  void eachImplementationRespondsToEachRequest() {
    bench("request");
  }

  @Test
  void whoSleepsIsWokenByARequest() {
    assertThat(
            TalariaCommand.run(
                    "bench messages asleep --against pipe --sizes 16 --quick --no-pin".split(" "))
                .well()
                .out())
        .contains("asleep 16 B", "\nshm ", "\ntcp ", "\npipe ");
  }

  @Test
  void whatWasNotedOfTheCoresIsTold() {
    String words = "bench messages asleep --against pipe --sizes 16 --quick --no-pin";
    assertThat(TalariaCommand.run((words + " --same-distance").split(" ", -1)).well().out())
        .containsPattern("ns from core to core|distance between the cores");
  }

  @Tag("long")
  @Test
  void eachImplementationDeliversWhatWasSent() {
    bench("throughput");
  }

  private static void bench(String pattern) {
    String words = " --sizes 64 --iterations 1 --warm-up 0.1 --seconds 0.2 --no-pin";
    TalariaCommand.Ended ended =
        TalariaCommand.run(("bench messages " + pattern + words).split(" ", -1)).well();
    List<MessagesImplementation> all = new ArrayList<>(MessagesImplementation.USUAL);
    all.addAll(MessagesImplementation.BASELINES);
    all.removeIf(each -> pattern.equals("throughput") && each.onlyRequests());
    for (MessagesImplementation each : all) {
      assertThat(ended.out())
          .contains("\n" + each + " ")
          .contains(each + ": " + each.description());
    }
    assertThat(ended.out()).contains(pattern + " 64 B");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '"',
      value = {
        "asleep --threads 2 | --threads, --dispatch, --handlers and --reuse are for patterns in which",
        "request --reuse | --threads, --dispatch, --handlers and --reuse are for patterns in which",
        "--handlers 2 | --handlers is for --dispatch ordered, serial and concurrent",
        "--reuse --dispatch serial | --reuse is for --dispatch inline",
        "--dispatch none | there is no 'none', but inline, ordered, serial, concurrent, virtual",
        "ring --nodes 17 | --nodes must be from 2 to 16, not 17",
        "ring --against bare | --against is for throughput, request and asleep",
        "--paper --threads 2 | --threads does not go with --paper, which has its own",
        "--paper ring | --paper has of patterns [throughput, both-ways, request, all-to-all, turning]",
        "--paper --pictures /nowhere | --pictures: there is no folder /nowhere",
        "--pictures /tmp | --pictures is for --paper",
        "turning --nodes 2 | turning needs --nodes 3 or more",
        "--sizes 48 | there is no object of 48 bytes, but of powers of two from 1 to 1048576",
        "both-ways --reuse --sizes 4096 | --reuse is for --sizes 16 and 64, not for arrays of 4096",
        "--idle never | there is no 'never', but adaptive, busy-spin, backoff",
        "--transport shm --encrypted | --encrypted is for transport tcp, which --transport leaves out"
      })
  void wrongOptionsAreTold(String words, String told) {
    TalariaCommand.Ended ended = TalariaCommand.run(("bench messages " + words).split(" ", -1));
    assertThat(ended.status()).isEqualTo(2);
    assertThat(ended.err()).contains(told);
  }

  @Test
  void picturesThatCannotBeWrittenAreRefusedBeforeAnythingIsMeasured(@TempDir Path folder)
      throws Exception {
    Path closed = Files.createDirectory(folder.resolve("closed"));
    Files.setPosixFilePermissions(closed, PosixFilePermissions.fromString("r-xr-xr-x"));
    assumeFalse(Files.isWritable(closed), "this user may write everything");
    String words = "bench messages --paper --quick --pictures " + closed;
    TalariaCommand.run(words.split(" ", -1))
        .failed(2, "--pictures: no permission to write in " + closed);
  }

  @Test
  void arraysAreNumberedAndAddedUp() {
    for (int size = 1; size <= Sizes.MAX_BYTES; size *= 2) {
      Tally.Adder adder = new Tally.Adder();
      int count = size < 8 ? 70_000 : 3;
      long sum = 0;
      for (long before = 0; before < count; before++) {
        long number = Receipt.number(0, before);
        Object object = Sizes.object(size, number);
        adder.take(object);
        sum += Sizes.sum(size, number);
        assertThat(object).isEqualTo(Sizes.object(size, number));
      }
      assertThat(adder.tally()).as("%s B", size).isEqualTo(new Tally(count, sum, 0));
      adder.take(Sizes.object(size, Receipt.number(0, count + 1L)));
      assertThat(adder.tally().wrong()).as("%s B", size).isOne();
      adder.take("not sent");
      assertThat(adder.tally().wrong()).as("%s B", size).isEqualTo(2);
      Block block = Block.of(size, 0x0102_0304_0506_0708L);
      assertThat(block.number()).isEqualTo(0x0102_0304_0506_0708L & block.mask());
      assertThat(block.sum()).isEqualTo(Block.sum(size, 0x0102_0304_0506_0708L));
      assertThat(block).isNotEqualTo(Block.of(size, 1)).isNotEqualTo(Block.of(2 * size, 0));
    }
    Receipt receipt = Receipt.of(Dispatch.INLINE);
    for (long before = 0; before < 100; before++) {
      for (int worker = 0; worker < Receipt.MAX_WORKERS; worker++) {
        Block block = Block.of(1, Receipt.number(worker, before));
        receipt.take(block.number(), block.mask(), block.sum());
      }
    }
    assertThat(receipt.tally().wrong()).isZero();
    receipt.take(Receipt.number(3, 101) & 0xff, 0xff, 0);
    assertThat(receipt.tally().wrong()).isOne();
    assertThat(Sizes.label(512) + ", " + Sizes.label(1 << 16) + ", " + Sizes.label(1 << 20))
        .isEqualTo("512 B, 64 KiB, 1 MiB");
  }

  private static void arrays(String pattern, String options) {
    String words = "bench messages " + pattern + options + " --against netty-kryo,jeromq,bare";
    String more = " --iterations 1 --warm-up 0.1 --seconds 0.2 --no-pin";
    assertThat(TalariaCommand.run((words + more).split(" ", -1)).well().out())
        .contains(pattern + " 1 MiB ")
        .containsPattern("(?s)1 MiB .*\nshm .*\nnetty-kryo .*\nbare ")
        .doesNotContain("\njeromq ");
  }

  @Test
  void arraysArriveWhole() {
    arrays("throughput", " --sizes 1048576 --transport shm");
  }

  @Test
  void severalThreadsSendByEachImplementationThatLetsThem() {
    String words = "bench messages throughput --threads 3 --sizes 16 --iterations 1";
    String more = " --against netty-kryo,grpc,aeron-ipc,aeron-exclusive,bare";
    String timing = " --warm-up 0.1 --seconds 0.2 --no-pin";
    assertThat(TalariaCommand.run((words + more + timing).split(" ", -1)).well().out())
        .containsPattern(
            "(?s)throughput 16 B, 3 threads .*\nshm .*\ntcp .*\nnetty-kryo .*\naeron-ipc .*\nbare ")
        .doesNotContain("\ngrpc ", "\naeron-exclusive ");
  }

  @Tag("long")
  @ParameterizedTest
  @ValueSource(strings = {"throughput", "request"})
  void arraysOfAllLengthsArriveWhole(String pattern) {
    arrays(pattern, " --sizes 4,65536,1048576 --transport shm,tcp");
  }

  @Test
  void thePaperHasAllItsParameters() {
    Timing timing = new Timing(1, 1);
    Pinning pinning = Pinning.decide(false);
    PaperGrid whole = PaperGrid.of(PaperGrid.PATTERNS, List.of(), false, timing, pinning);
    Map<String, Integer> cells = new LinkedHashMap<>();
    whole.figures().forEach(each -> cells.put(each.name(), each.cells().size()));
    int sizes = 21;
    assertThat(cells)
        .containsExactly(
            entry("engine-alone", sizes),
            entry("one-way", 5 * 3 * sizes),
            entry("reused", 2 * 2),
            entry("both-ways", 5 * 3 * sizes),
            entry("requests", 5 * sizes),
            entry("all-to-all", 3 * sizes),
            entry("all-to-all-many-threads", 3 * sizes),
            entry("turning", 3 * sizes));
    assertThat(whole.cases().stream().map(MessagesShown::measure)).doesNotHaveDuplicates();
    assertThat(whole.figures().get(1).sizes()).startsWith(1, 2, 4).endsWith(1 << 20);
    assertThat(whole.figures().get(1).lines()).startsWith("1 t 1 h", "1 t 2 h", "1 t 4 h");
    assertThat(whole.figures().get(4).lines()).startsWith("inline", "2 t inline");
    assertThat(whole.figures().get(5).lines()).startsWith("4 nodes 1 t 1 h");
  }

  @Tag("long")
  @Test
  void thePaperIsMeasuredAndDrawn(@TempDir Path folder) throws Exception {
    Path csv = folder.resolve("paper.csv");
    String words =
        "bench messages --paper --quick --sizes 16 --transport shm --no-pin --csv " + csv;
    String more = " --pictures " + folder;
    assertThat(TalariaCommand.run((words + more).split(" ", -1)).well().out())
        .contains("engine-alone, shm", "engine-alone, bare", "one-way, shm", "both-ways, shm")
        .contains("requests, shm", "all-to-all, shm", "turning, shm", "reused, shm")
        .contains("of another machine", "Written: " + folder.resolve("one-way.svg"));
    assertThat(folder.resolve("requests.svg")).content().contains("<polyline", "median time");
    assertThat(csv).content().contains("both-ways/16/2-nodes/4-threads/concurrent/2-handlers");
  }

  @Test
  void anAgentThatIsNamedMustBeThere() {
    TalariaCommand.run("bench", "messages", "--agent", "/nowhere/x")
        .failed(1, "no agent: /nowhere/x is not a file");
  }

  @Test
  void whatComesOutOfOrderIsCounted() {
    for (Dispatch dispatch : Dispatch.values()) {
      Receipt receipt = Receipt.of(dispatch);
      for (long before = 0; before < 3; before++) {
        for (int worker = 0; worker < Receipt.MAX_WORKERS; worker++) {
          receipt.take(Receipt.number(worker, before), worker);
        }
      }
      receipt.take(Receipt.number(3, 4), 1000); // the one before it is missing
      boolean unordered = dispatch == Dispatch.CONCURRENT || dispatch == Dispatch.VIRTUAL;
      assertThat(receipt.tally())
          .as("%s", dispatch)
          .isEqualTo(new Tally(49, 3 * 120 + 1000, unordered ? 0 : 1));
    }
    for (int size : Sizes.USUAL) {
      Mutable object = Mutable.of(size).fill(21);
      assertThat(object.number()).isEqualTo(21);
      assertThat(object.sum()).isEqualTo(Sizes.sum(size, 21));
    }
    assertThat(Two.of(21).sum()).isEqualTo(Sizes.sum(Sizes.SMALL, 21));
    assertThat(Eight.of(21).sum()).isEqualTo(Sizes.sum(Sizes.LARGE, 21));
  }

  @Test
  void theOwnTransportsDeliverWhatWasSent(@TempDir Path folder) throws Exception {
    Path json = folder.resolve("messages.json");
    String words =
        "bench messages throughput --against bare,bare --sizes 64,64 --iterations 1"
            + " --warm-up 0.1 --seconds 0.2 --no-pin --json ";
    assertThat(TalariaCommand.run((words + json).split(" ", -1)).well().out())
        .contains("throughput 64 B", "\nshm ", "\ntcp ", "\nbare ");
    JsonNode measure = Json.parse(Files.readString(json)).path("measures").get(0);
    assertThat(measure.path("id").asText()).isEqualTo("throughput/64/rate");
    for (String implementation : new String[] {"shm", "tcp", "bare"}) {
      JsonNode iterations = measure.path("iterations").path(implementation);
      assertThat(iterations).as("once, though named twice").hasSize(1);
      assertThat(iterations.get(0).asDouble()).isPositive();
    }
  }
}
