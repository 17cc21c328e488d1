// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/**
 * Control connections, the JDK's channels beneath ours: how they are connected, waited for, read
 * and written while nothing has replaced them, and what programs are shown of them.
 */
package io.talaria.nio.control;
