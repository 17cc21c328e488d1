// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/**
 * What {@code ucxdev} is made of: frames as messages by tag over <a
 * href="https://openucx.org">UCX</a>, on whatever that drives. Matching is not UCX's but that of
 * all devices of frames, so that wildcards, credits and cancelling are the same on each, and so
 * that receives from any rank see rings and UCX alike.
 */
package io.talaria.mpj.device.ucx;
