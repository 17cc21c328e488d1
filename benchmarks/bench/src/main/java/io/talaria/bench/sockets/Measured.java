// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.sockets;

import io.talaria.bench.harness.TransportProbe.Transports;
import java.util.Map;

/**
 * What one side measured.
 *
 * @param values figures by name, see the constants
 * @param histograms encoded histograms of round trips by name
 * @param transports which transports the connections took at the end
 * @param rested whether compilers rested when measuring began
 */
record Measured(
    Map<String, Double> values,
    Map<String, String> histograms,
    Transports transports,
    boolean rested) {
  /** Round trips a second. */
  static final String TRIPS_PER_SECOND = "tripsPerSecond";

  /** Messages a second. */
  static final String MESSAGES_PER_SECOND = "messagesPerSecond";

  /** Gigabytes (10^9) a second. */
  static final String GIGABYTES_PER_SECOND = "gigabytesPerSecond";

  /** Bytes that went over TCP while it was measured; none if the connections were accelerated. */
  static final String TCP_BYTES = "tcpBytesWhileMeasured";

  /** Bytes allocated by the client's thread for each round trip. */
  static final String CLIENT_ALLOCATED = "clientAllocatedBytesPerTrip";

  /** Bytes allocated by the server's thread for each round trip. */
  static final String SERVER_ALLOCATED = "serverAllocatedBytesPerTrip";

  /** Processor time of both JVMs for each round trip, in nanoseconds. */
  static final String CPU_PER_TRIP = "cpuNsPerTrip";

  /** From the start of the client's JVM to its {@value ColdClient#ECHOES}th echo. */
  static final String START_TO_ECHOES_NS = "startToEchoesNs";

  /** Processor time of both JVMs, in percent of one core. */
  static final String IDLE_CPU = "idleCpuPercent";

  /** Bytes of /dev/shm for each connection, by its used space: other programs may disturb it. */
  static final String SHM_PER_CONNECTION = "shmBytesPerConnection";

  /** Bytes of files in /dev/shm that the client has mapped for each connection. */
  static final String MAPPED_PER_CONNECTION = "clientMappedShmBytesPerConnection";

  /** Mappings of the client for each connection. */
  static final String MAPPINGS_PER_CONNECTION = "clientMappingsPerConnection";

  /** Resident memory of the client for each connection, shared memory included. */
  static final String CLIENT_MEMORY = "clientResidentBytesPerConnection";

  /** Resident memory of the server for each connection, shared memory included. */
  static final String SERVER_MEMORY = "serverResidentBytesPerConnection";

  /** Descriptors of both processes for each connection. */
  static final String DESCRIPTORS_PER_CONNECTION = "descriptorsPerConnection";

  /** From the first connect to the return of the last. */
  static final String CONNECT_NS = "connectNs";

  /** From the first connect until each connection has echoed and taken its transport. */
  static final String SET_UP_NS = "setUpNs";

  /** One echo on each connection in turn. */
  static final String VISIT_NS = "visitNs";

  /** Closing all connections, as the client sees it. */
  static final String TEAR_DOWN_NS = "tearDownNs";

  /** The histogram of round trips. */
  static final String ROUND_TRIP = "roundTrip";

  /** The histogram of round trips when there was one connection only. */
  static final String ROUND_TRIP_ONE = "roundTripOneConnection";

  /** The same once more, after the other connections have been closed. */
  static final String ROUND_TRIP_ONE_AGAIN = "roundTripOneConnectionAgain";

  /**
   * Returns the same, begun when compilers rested or not.
   *
   * @param whether whether they did
   */
  Measured rested(boolean whether) {
    return new Measured(values, histograms, transports, whether);
  }
}
