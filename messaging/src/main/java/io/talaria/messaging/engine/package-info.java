// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/**
 * The engine of a node: its peers and connections, the poller that receives, the dispatch to
 * receivers, and requests and their responses. It uses the transports through {@link
 * io.talaria.messaging.transport.Link}.
 */
package io.talaria.messaging.engine;
