// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/**
 * Connections between hosts: which of them may be upgraded, and how the processes at their ends
 * find each other.
 */
package io.talaria.nio.hosts;
