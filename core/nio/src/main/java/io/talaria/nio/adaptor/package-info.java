// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/**
 * {@code java.net.Socket} and {@code java.net.ServerSocket} in front of a channel, as {@code
 * socket()} gives them.
 *
 * <p>The adaptors know nothing of Talaria's channels: what they need beyond the public methods of a
 * channel is in {@link io.talaria.nio.adaptor.TimedChannel} and {@link
 * io.talaria.nio.adaptor.TimedServerChannel}.
 */
package io.talaria.nio.adaptor;
