// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/** Tests of {@code niodev}. */
package io.talaria.mpj.device.nio;
