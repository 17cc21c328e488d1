// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/**
 * The transport's binding on JUCX, UCX's own binding by JNI. JUCX is not part of Talaria: {@link
 * io.talaria.nio.jucx.JucxBinding} finds out whether it is there, of a release that can be used,
 * and in an environment that leaves the program's standard output alone; the other classes name
 * JUCX's and are not loaded before.
 *
 * <p>JUCX hands out no received bytes in place and does not say which streams have some. So each
 * {@link io.talaria.nio.jucx.JucxEndpoint} has one receive posted into a block of its own; its
 * completion, an up-call, does nothing but put the endpoint on its worker's ready list. Everything
 * else is polled. An operation costs one object, JUCX's request.
 */
package io.talaria.nio.jucx;
