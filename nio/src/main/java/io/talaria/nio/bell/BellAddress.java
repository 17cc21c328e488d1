// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.bell;

/**
 * What a process tells of a bell of its own.
 *
 * @param descriptor the number of its writing end there
 * @param inode what identifies the pipe on this host
 */
public record BellAddress(int descriptor, long inode) {}
