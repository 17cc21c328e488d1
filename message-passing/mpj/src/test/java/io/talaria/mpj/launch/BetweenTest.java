// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.launch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.talaria.mpj.device.nio.Links;
import io.talaria.mpj.device.transport.FrameTransport;
import io.talaria.mpj.device.ucx.UcxFrameTransport;
import io.talaria.mpj.device.verbs.LoopbackVerbs;
import io.talaria.mpj.device.verbs.VerbsFrameTransport;
import io.talaria.ucx.Ucx;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Which transport all ranks use between hosts, and how a host tells of its RDMA ports. */
@Timeout(120)
class BetweenTest {
  private static Links links(int rank) throws IOException {
    return new Links(rank, 2, new Links.Options().secret(new byte[32]));
  }

  private static FrameTransport ucx(int rank) throws IOException {
    assumeTrue(Ucx.unavailableReason().isEmpty(), Ucx.unavailableReason().orElse(""));
    return new UcxFrameTransport(rank, 2, 4096, 1000, 0);
  }

  private static List<String> taken(Between... ranks) {
    List<String> rankAddresses = List.of(ranks[0].rankAddress(), ranks[1].rankAddress());
    FrameTransport first = ranks[0].choose(rankAddresses);
    FrameTransport second = ranks[1].choose(rankAddresses);
    first.close();
    second.close();
    return List.of(first.name(), second.name());
  }

  private static FrameTransport verbs(int rank) throws IOException {
    String unavailableReason = LoopbackVerbs.prepare();
    assumeTrue(unavailableReason.isEmpty(), unavailableReason);
    return new VerbsFrameTransport(rank, 2, links(rank), null, 4096, 1000, 0, 0);
  }

  private static Between none(int rank) throws IOException {
    return new Between(links(rank), List.of());
  }

  @Test
  void ucxIsTakenIfAllHaveIt() throws Exception {
    assertThat(
            taken(new Between(links(0), List.of(ucx(0))), new Between(links(1), List.of(ucx(1)))))
        .containsExactly("ucxdev", "ucxdev");
  }

  @Test
  void connectionsAreTakenIfOneHasNoUcx() throws Exception {
    assertThat(taken(new Between(links(0), List.of(ucx(0))), none(1)))
        .containsExactly("niodev", "niodev");
    assertThat(taken(none(0), none(1))).containsExactly("niodev", "niodev");
  }

  @Test
  void verbsAreTakenBeforeUcxIfAllHaveThem() throws Exception {
    assertThat(
            taken(
                new Between(links(0), List.of(verbs(0), ucx(0))),
                new Between(links(1), List.of(verbs(1), ucx(1)))))
        .containsExactly("ibvdev", "ibvdev");
  }

  @Test
  void whatOneLacksIsTakenByNoOther() throws Exception {
    assertThat(
            taken(
                new Between(links(0), List.of(verbs(0), ucx(0))),
                new Between(links(1), List.of(ucx(1)))))
        .containsExactly("ucxdev", "ucxdev");
    assertThat(
            taken(new Between(links(0), List.of(verbs(0))), new Between(links(1), List.of(ucx(1)))))
        .containsExactly("niodev", "niodev");
  }

  @Test
  void aPortThatIsUpIsFound(@TempDir Path devices) throws Exception {
    assertThat(Rdma.isUp(devices.resolve("none"))).isFalse();
    Path ports = Files.createDirectories(devices.resolve("mlx5_0/ports"));
    assertThat(Rdma.isUp(devices)).isFalse();
    Path first = Files.createDirectory(ports.resolve("1"));
    Files.writeString(first.resolve("state"), "1: DOWN\n");
    assertThat(Rdma.isUp(devices)).isFalse();
    Path second = Files.createDirectory(ports.resolve("2"));
    Files.writeString(second.resolve("state"), "4: ACTIVE\n");
    assertThat(Rdma.isUp(devices)).isTrue();
  }
}
