// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/**
 * What the transport's protocol needs of UCX, and all of it: a {@link
 * io.talaria.nio.ucx.binding.UcxBinding} opens {@link io.talaria.nio.ucx.binding.BoundWorker}s,
 * whose {@link io.talaria.nio.ucx.binding.BoundEndpoint}s send {@link
 * io.talaria.nio.ucx.binding.Block}s and hand out {@link io.talaria.nio.ucx.binding.Received}
 * bytes. Modules beside this one implement it; a process loads one of them, so that its calls stay
 * direct ones.
 *
 * <p>Calls of the data path answer 0 or a positive number for good, and one of UCX's negative
 * status codes otherwise; they throw nothing for what a peer or the network did. An operation that
 * is not done at once gives a <em>request</em>, a number greater than 1, valid until {@link
 * io.talaria.nio.ucx.binding.BoundWorker#poll} has answered its outcome or {@link
 * io.talaria.nio.ucx.binding.BoundWorker#release} was called.
 */
package io.talaria.nio.ucx.binding;
