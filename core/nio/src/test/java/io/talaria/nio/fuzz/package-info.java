// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/**
 * A fuzzer of all that a peer can send and write: frames of the negotiation, shared memory, bytes
 * on the control connection, and counters files. {@code ./talaria fuzz} runs it at length, a test
 * with a fixed seed in each build. It uses the JDK alone, so that it runs from the class files.
 */
package io.talaria.nio.fuzz;
