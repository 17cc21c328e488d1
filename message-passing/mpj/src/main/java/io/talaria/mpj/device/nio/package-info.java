// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/**
 * What {@code niodev} is made of: frames over connections of the JVM's default selector provider,
 * plain TCP or whatever that makes of it.
 */
package io.talaria.mpj.device.nio;
