// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.talaria.nio.process.Host;
import java.util.Properties;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Every property: what it is without a value, what it may be, and what a bad value says. */
@Timeout(60)
class ConfigTest {
  private Properties before;

  @BeforeEach
  void keepProperties() {
    before = (Properties) System.getProperties().clone();
    System.getProperties().stringPropertyNames().stream()
        .filter(name -> name.startsWith("talaria."))
        .forEach(System::clearProperty);
  }

  @AfterEach
  void restoreProperties() {
    System.setProperties(before);
  }

  private static Config with(String name, String value) {
    System.setProperty(name, value);
    return Config.load();
  }

  private static void assertRefused(String name, String value, String allowed) {
    assertThatThrownBy(() -> with(name, value))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("property " + name + " is '" + value + "', it must be " + allowed);
  }

  @Test
  void withoutPropertiesTheDefaultsHold() {
    Config config = Config.load();
    String user = Integer.toString(Host.uid());
    assertThat(config.enabled()).isTrue();
    assertThat(config.transports()).containsExactly("shm");
    assertThat(config.dir()).hasToString("/tmp/talaria-" + user);
    assertThat(config.shmDir()).hasToString("/dev/shm/talaria-" + user);
    assertThat(config.ringInitialBytes()).isEqualTo(32 << 10);
    assertThat(config.ringMaxBytes()).isEqualTo(4 << 20);
    assertThat(config.spinNs()).isEqualTo(20_000);
    assertThat(config.upgradeAfter()).isZero();
    assertThat(config.sockets()).isFalse();
    assertThat(config.rules()).isNull();
    assertThat(config.key()).isNull();
    assertThat(config.rendezvousOffset()).isEqualTo(10_000);
    assertThat(config.jmx()).isFalse();
    assertThat(config.quiet()).isFalse();
  }

  @Test
  void withoutPropertiesAllPortsAreIncluded() {
    Ports ports = Config.load().ports();
    assertThat(ports.have(1)).isTrue();
    assertThat(ports.have(65_535)).isTrue();
    assertThat(ports.words()).isEmpty();
  }

  @Test
  void portsAreNamedOneByOneAndInRanges() {
    Ports ports = with(Config.PORTS, " 80, 9092-9094 ,65535").ports();
    assertThat(IntStream.rangeClosed(0, 65_535).filter(ports::have))
        .containsExactly(80, 9092, 9093, 9094, 65_535);
    assertThat(ports.named()).isEqualTo("80,9092-9094,65535");
    assertThat(ports.words()).isEqualTo(" of the ports 80,9092-9094,65535");
  }

  @Test
  void portsThatAreExceptedCountMoreThanThoseThatAreNamed() {
    System.setProperty(Config.PORTS, "1-10");
    Ports ports = with(Config.PORTS_EXCEPT, "2-9,1").ports();
    assertThat(IntStream.rangeClosed(0, 65_535).filter(ports::have)).containsExactly(10);
    assertThat(ports.words()).isEqualTo(" of the ports 1-10 but those of the ports 2-9,1");
  }

  @Test
  void portsMayBeAllAndNone() {
    System.setProperty(Config.PORTS_EXCEPT, "none");
    assertThat(with(Config.PORTS, "all").ports().words()).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"", "0", "65536", "-1", "80,", "90-80", "80-", "http", "none", "8 0;90", "000080"})
  void anyOtherListOfPortsIsRefused(String value) {
    String list = "a list, by commas, of ports from 1 to 65535 and ranges such as 9092-9094";
    assertThatThrownBy(() -> with(Config.PORTS, value))
        .hasMessage("property talaria.ports is '" + value + "', it must be all, or " + list);
    System.clearProperty(Config.PORTS);
    String other = value.equals("none") ? "all" : value;
    assertThatThrownBy(() -> with(Config.PORTS_EXCEPT, other))
        .hasMessage(
            "property talaria.ports.except is '" + other + "', it must be none, or " + list);
  }

  @Test
  void rulesAndKeyAreFiles() {
    assertThat(with(Config.RULES, "/etc/talaria/rules").rules()).hasToString("/etc/talaria/rules");
    assertThat(with(Config.KEY, "/etc/talaria/key").key()).hasToString("/etc/talaria/key");
    assertThat(with(Config.RULES, "none").rules()).isNull();
    assertRefused(Config.RULES, "rules", "an absolute path of a file, or none");
  }

  @Test
  void memoryIsSharedWithOtherNetworkNamespacesOnlyIfThatIsSaid() {
    assertThat(Config.load().sharesNamespaces()).isFalse();
    assertThat(with(Config.NAMESPACES, "own").sharesNamespaces()).isFalse();
    assertThat(with(Config.NAMESPACES, "shared").sharesNamespaces()).isTrue();
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "true", "Shared", "all"})
  void whatIsSharedIsSaidInOneOfTwoWords(String value) {
    assertRefused(Config.NAMESPACES, value, "own or shared");
  }

  @Test
  void theRendezvousIsBesideTheService() {
    assertThat(with(Config.RENDEZVOUS_OFFSET, "1").rendezvousOffset()).isEqualTo(1);
    assertRefused(Config.RENDEZVOUS_OFFSET, "0", "a whole number from 1 to 32767");
  }

  @Test
  void theBindingIsOneOfThree() {
    assertThat(Config.load().ucxBinding()).isEqualTo("auto");
    assertThat(with(Config.UCX_BINDING, "jucx").ucxBinding()).isEqualTo("jucx");
    assertRefused(Config.UCX_BINDING, "jni", "one of auto, ffm, jucx");
  }

  @Test
  void jucxIsAFile() {
    assertThat(with(Config.JUCX, "/opt/jucx.jar").jucx()).hasToString("/opt/jucx.jar");
    assertThat(with(Config.JUCX, "none").jucx()).isNull();
    assertRefused(Config.JUCX, "jucx.jar", "an absolute path of a file, or none");
  }

  @Test
  void itPrintsWhatIsInForce() {
    System.setProperty(Config.QUIET, "true");
    System.setProperty(Config.DIR, "/run/talaria");
    System.setProperty(Config.SHM_DIR, "/mnt/shm");
    assertThat(Config.load())
        .hasToString(
            "talaria.enabled=true talaria.transports=shm talaria.dir=/run/talaria"
                + " talaria.shm.dir=/mnt/shm talaria.shm.ring.initial=32768"
                + " talaria.shm.ring.max=4194304 talaria.spin.ns=20000"
                + " talaria.upgrade.after=0 talaria.sockets=false"
                + " talaria.ports=all talaria.ports.except=none talaria.namespaces=own"
                + " talaria.rules=none talaria.key=none"
                + " talaria.rendezvous.offset=10000"
                + " talaria.ucx.binding=auto talaria.jucx=none talaria.jmx=false talaria.quiet=true");
  }

  @ParameterizedTest
  @CsvSource({"true,true", "false,false", "'',true"})
  void aFlagIsTrueFalseOrJustThere(String value, boolean expected) {
    assertThat(with(Config.ENABLED, value).enabled()).isEqualTo(expected);
    assertThat(with(Config.QUIET, value).quiet()).isEqualTo(expected);
    assertThat(with(Config.JMX, value).jmx()).isEqualTo(expected);
  }

  @ParameterizedTest
  @ValueSource(strings = {"yes", "TRUE", "0", " true", "talse"})
  void anyOtherFlagIsRefused(String value) {
    assertRefused(Config.ENABLED, value, "true or false");
    System.clearProperty(Config.ENABLED);
    assertRefused(Config.QUIET, value, "true or false");
  }

  @ParameterizedTest
  @ValueSource(strings = {"verbs", "", "shm,", "shm;ucx", "SHM"})
  void unknownTransportsAreRefused(String value) {
    assertRefused(Config.TRANSPORTS, value, "a list, by commas, of shm, ucx");
  }

  @Test
  void aTransportThatIsNamedTwiceCountsOnce() {
    assertThat(with(Config.TRANSPORTS, "shm,ucx,shm").transports()).containsExactly("shm", "ucx");
  }

  @Test
  void transportsMayHaveSpacesBetweenThem() {
    assertThat(with(Config.TRANSPORTS, " shm ").transports()).containsExactly("shm");
    System.clearProperty(Config.TRANSPORTS);
    assertThat(with(Config.TRANSPORTS, "ucx, shm").transports()).containsExactly("ucx", "shm");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "relative", "./here", "~/there", "a\0b"})
  void aDirectoryIsAnAbsolutePath(String value) {
    assertRefused(Config.DIR, value, "an absolute path of a directory");
    System.clearProperty(Config.DIR);
    assertRefused(Config.SHM_DIR, value, "an absolute path of a directory");
  }

  @Test
  void theRuntimeDirectoryHasRoomForTheNamesOfSockets() {
    String longest = "/" + "d".repeat(Config.MAX_DIR_BYTES - 1);
    assertThat(with(Config.DIR, longest).dir()).hasToString(longest);
    assertRefused(
        Config.DIR,
        longest + "d",
        "at most 81 bytes long, because Unix-domain sockets are made in it; it has 82");
    System.clearProperty(Config.DIR);
    assertThat(with(Config.SHM_DIR, longest + "d").shmDir()).hasToString(longest + "d");
  }

  @Test
  void directoriesAreTakenAsGiven() {
    assertThat(with(Config.DIR, "/a/b").dir()).hasToString("/a/b");
    assertThat(with(Config.SHM_DIR, "/c d").shmDir()).hasToString("/c d");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"", "0", "-4096", "2048", "4097", "32k", "1e6", "536870912", "99999999999"})
  void aRingIsAPowerOfTwoWithinLimits(String value) {
    String allowed = "a power of two from 4096 to 268435456 (bytes)";
    assertRefused(Config.RING_INITIAL, value, allowed);
    System.clearProperty(Config.RING_INITIAL);
    assertRefused(Config.RING_MAX, value, allowed);
  }

  @ParameterizedTest
  @ValueSource(ints = {4096, 32768, 1 << 20, 1 << 28})
  void aRingMayBeAnythingWithin(int bytes) {
    Config config = with(Config.RING_INITIAL, " " + bytes + " ");
    assertThat(config.ringInitialBytes()).isEqualTo(bytes);
    assertThat(config.ringMaxBytes()).isGreaterThanOrEqualTo(bytes);
  }

  @Test
  void aRingMayNotGrowToLessThanItIs() {
    System.setProperty(Config.RING_INITIAL, "65536");
    assertRefused(Config.RING_MAX, "32768", "at least talaria.shm.ring.initial, which is 65536");
    System.clearProperty(Config.RING_INITIAL);
    assertRefused(Config.RING_MAX, "4096", "at least talaria.shm.ring.initial, which is 32768");
    assertThat(with(Config.RING_MAX, "32768").ringMaxBytes()).isEqualTo(32768);
  }

  @Test
  void anUpgradeMayBeSoughtLater() {
    assertThat(with(Config.UPGRADE_AFTER, " 4 ").upgradeAfter()).isEqualTo(4);
    assertThat(with(Config.UPGRADE_AFTER, "0").upgradeAfter()).isZero();
    assertThat(with(Config.UPGRADE_AFTER, "1000000").upgradeAfter()).isEqualTo(1_000_000);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "-1", "1000001", "4 messages", "1.5", "never"})
  void whatAnUpgradeIsSoughtAfterHasLimits(String value) {
    assertRefused(Config.UPGRADE_AFTER, value, "a whole number from 0 to 1000000");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "-1", "20µs", "1000000001", "99999999999999999999", "1.5"})
  void spinningHasLimits(String value) {
    assertRefused(Config.SPIN_NS, value, "a whole number from 0 to 1000000000");
  }

  @Test
  void spinningMayBeOff() {
    assertThat(with(Config.SPIN_NS, "0").spinNs()).isZero();
    assertThat(with(Config.SPIN_NS, "1000000000").spinNs()).isEqualTo(1_000_000_000);
  }

  @ParameterizedTest
  @ValueSource(strings = {"talaria.spin", "talaria.Dir", "talaria.shm.ring.size", "talaria."})
  void aNameThatNobodyKnowsIsRefused(String name) {
    assertThatThrownBy(() -> with(name, "1"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(name)
        .hasMessageContaining("known are talaria.enabled, talaria.transports, talaria.dir,");
  }

  @ParameterizedTest
  @CsvSource({
    "talaria.spinns, talaria.spin.ns",
    "talaria.Dir, talaria.dir",
    "talaria.shmdir, talaria.shm.dir",
    "talaria.shm.ringmax, talaria.shm.ring.max",
    "talaria.renezvous.ofset, talaria.rendezvous.offset"
  })
  void theNameThatIsNearestIsNamed(String wrong, String meant) {
    assertThatThrownBy(() -> with(wrong, "1"))
        .hasMessageStartingWith(
            "unknown property " + wrong + ", did you mean " + meant + "?; known are ");
  }

  @Test
  void aNameThatIsNearNoneNamesNone() {
    assertThatThrownBy(() -> with("talaria.something.else", "1"))
        .hasMessageStartingWith("unknown property talaria.something.else; known are ");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "talariadne.thread",
        "talaria.test.something",
        "talaria.mpj.eager",
        "talaria.verbs.library",
        "talaria.rdmacm.library",
        "talaria.ibumad.library",
        "talaria.ibmad.library",
        "talaria.ibnetdisc.library",
        "talaria.harness.plain",
        "talaria.bench.patience"
      })
  void namesOfOthersAreTheirAffair(String name) throws Exception {
    assertThat(with(name, "1").enabled()).isTrue();
  }
}
