// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/**
 * The transport on UCX. A {@link io.talaria.nio.ucx.UcxTransport} has {@link
 * io.talaria.nio.ucx.Engine}s, each a UCX worker with its lock; a {@link
 * io.talaria.nio.ucx.UcxStream} lives on one engine from beginning to end and sends through a
 * {@link io.talaria.nio.ucx.Pipe}, an endpoint; a {@link io.talaria.nio.ucx.UcxReadySet} is the
 * engines a selector looks at; the {@link io.talaria.nio.ucx.ProgressThread} progresses the engines
 * that no other thread does.
 *
 * <p>What is said to be an engine's is touched only by the thread that has entered it. UCX itself
 * is behind {@code io.talaria.nio.ucx.binding}.
 */
package io.talaria.nio.ucx;
