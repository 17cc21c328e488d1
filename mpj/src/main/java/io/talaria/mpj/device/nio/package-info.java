// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/**
 * The device {@code niodev}: frames over connections of the JVM's default selector provider, plain
 * TCP or whatever that makes of it; and {@code auto}, which has rings inside a host beside them.
 */
package io.talaria.mpj.device.nio;
