// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/**
 * The shared-memory transport: one single-writer, single-reader ring per direction, in files mapped
 * by both processes; plain JDK.
 *
 * <p>Ordering, used throughout the package: a position is stored with release and loaded with
 * acquire. Where one side publishes something and then looks at a word of the other side (a writer
 * publishes its tail and looks for a sleeper; a sleeper publishes its word and looks at the tail),
 * a full fence stands between both, on both sides; for sleepers it is {@link
 * io.talaria.nio.memory.SleepWord#publishBeforeLook}, which has the proof. Every shared word has
 * exactly one writer, except {@code PHASE} of {@link ConnectionLayout} and the ready bits of {@link
 * PeerLayout}, which both sides change atomically.
 */
package io.talaria.nio.shm;
