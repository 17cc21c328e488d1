// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.echo;

/**
 * What the client is told next.
 *
 * @param text the line to send; null for the end
 */
record EchoLine(String text) {}
