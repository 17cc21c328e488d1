// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/**
 * Devices inside a host: rings of frames in memory that two ranks share, and a word to sleep on.
 * {@code shmdev} has them in files of the job, between processes; {@code smdev} has them in the
 * memory of one JVM, between threads. All else is the same.
 */
package io.talaria.mpj.device.ring;
