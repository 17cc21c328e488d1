// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/** All that touches {@code sun.nio.ch}: the JDK's own provider, parking on a channel, polling. */
package io.talaria.nio.jdk;
