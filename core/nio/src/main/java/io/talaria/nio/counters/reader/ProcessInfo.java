// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.counters.reader;

import io.talaria.nio.ConnectionInfo;
import io.talaria.nio.counters.file.Liveness;
import io.talaria.nio.counters.file.ProcessTotals;
import java.nio.file.Path;
import java.util.List;
import java.util.UUID;

/**
 * What a counters file says at one moment. Texts hold no control characters, whatever the file
 * holds.
 *
 * @param file the file
 * @param pid process id, as the process's own pid namespace numbers it
 * @param startTicks when the process started, clock ticks since boot
 * @param pidNamespace the inode that names its pid namespace
 * @param bootId the kernel's boot id
 * @param liveness whether the process lives
 * @param openedAtMs when the file was made, milliseconds since 1970
 * @param talariaVersion its Talaria
 * @param javaVersion its Java
 * @param program short name of the program
 * @param command main class or jar, and arguments
 * @param ucxUnavailableReason why UCX cannot be used in it, with what to do about it; empty if it
 *     can, or is not asked for
 * @param totals what the process has done in all
 * @param connections open connections and listeners, oldest first
 * @param unlisted open connections, listeners and selectors for which the file has no room
 * @param damaged records that make no sense, or were being written for too long
 */
public record ProcessInfo(
    Path file,
    long pid,
    long startTicks,
    long pidNamespace,
    UUID bootId,
    Liveness liveness,
    long openedAtMs,
    String talariaVersion,
    String javaVersion,
    String program,
    String command,
    String ucxUnavailableReason,
    ProcessTotals totals,
    List<ConnectionInfo> connections,
    long unlisted,
    int damaged) {}
