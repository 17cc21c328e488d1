// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.doorbell;

/**
 * What a process tells of a doorbell of its own.
 *
 * @param descriptor the number of its writing end there
 * @param inode what identifies the pipe on this host
 */
public record DoorbellAddress(int descriptor, long inode) {}
