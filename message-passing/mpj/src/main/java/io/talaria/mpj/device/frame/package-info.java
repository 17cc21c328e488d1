// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/**
 * What all devices share that move frames between two ranks in order: matching, protocols, credits.
 * Such a device implements {@link io.talaria.mpj.device.frame.FrameOutput} and {@link
 * io.talaria.mpj.device.frame.FrameInput}.
 */
package io.talaria.mpj.device.frame;
