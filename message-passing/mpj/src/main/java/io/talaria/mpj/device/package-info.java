// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/**
 * The device layer: how messages move between ranks. A {@link io.talaria.mpj.device.Device} knows
 * ranks, tags and contexts, all of them ints, and no communicators.
 */
package io.talaria.mpj.device;
