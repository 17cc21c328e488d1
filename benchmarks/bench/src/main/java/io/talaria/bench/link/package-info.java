// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/**
 * What is measured, behind one small interface: {@link io.talaria.bench.link.Link}. A new library
 * needs an {@link io.talaria.bench.link.Binding}, which makes its connections, and a link that
 * sends and receives one message; all patterns come with the interface, and may be done better by a
 * link that knows how.
 */
package io.talaria.bench.link;
