// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/** All that touches {@code sun.nio.ch}: the JDK's own provider, and parking on a channel. */
package io.talaria.nio.jdk;
