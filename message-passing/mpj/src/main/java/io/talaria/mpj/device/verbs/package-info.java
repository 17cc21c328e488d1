// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/**
 * Frames over RDMA verbs: a reliable connection for each two ranks, set up over the connections of
 * {@code niodev}, which stay as the sign that the other rank is there.
 */
package io.talaria.mpj.device.verbs;
