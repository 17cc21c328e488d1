// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package mpi;

import io.talaria.mpj.device.verbs.LoopbackVerbs;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestFactory;

/**
 * {@code ibvdev} on ranks that are threads: on the provider in memory, or on a device of this host,
 * see {@link LoopbackVerbs}. All in one class, which {@code ./talaria rdma-test} runs.
 */
class IbvdevTest {
  private static final int[] COUNTS = {0, 1, 1000};

  @Tag("long")
  @TestFactory
  Stream<DynamicTest> contractWithTwoRanks() {
    return ContractTest.on("ibvdev", 2, Variant.verbs());
  }

  @TestFactory
  Stream<DynamicTest> contractWithTheSmallestBuffersAndCredit() {
    return ContractTest.on(
        "ibvdev, buffers of 4 KiB", 4, Variant.verbs().with("buffer", 4096).with("credit", 3000));
  }

  @TestFactory
  Stream<DynamicTest> contractWhereOnlySmallMemoryStaysRegistered() {
    return ContractTest.on(
        "ibvdev, 64 KiB registered", 3, Variant.verbs().with("registrations", 65536).spinNs(0));
  }

  @Tag("long")
  @TestFactory
  Stream<DynamicTest> contractWithoutRegistrations() {
    return ContractTest.on(
        "ibvdev, nothing registered", 3, Variant.verbs().with("registrations", 0));
  }

  @TestFactory
  Stream<DynamicTest> contractBetweenTwoHosts() {
    return ContractTest.on("auto with ibvdev", 5, Variant.autoWithVerbs());
  }

  @TestFactory
  Stream<DynamicTest> collectives() {
    return CollectivesTest.all(Variant.verbs().spinNs(0), new int[] {2, 5}, COUNTS);
  }

  @Tag("long")
  @TestFactory
  Stream<DynamicTest> collectivesOfLargeCounts() {
    return CollectivesTest.all(Variant.verbs().spinNs(0), new int[] {2, 3, 5}, new int[] {100_000});
  }

  @TestFactory
  Stream<DynamicTest> randomPrograms() {
    return RandomProgramsTest.on(
        "ibvdev",
        RandomProgramsTest.ROUNDS / 10,
        Variant.verbs().with("buffer", RandomProgramsTest.SMALL).with("credit", 3_000));
  }
}
