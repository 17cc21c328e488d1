// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/**
 * What the child programs are made of: a console the test talks to, and byte streams that check
 * themselves. Everything here compiles for Java 17 and knows nothing of Talaria.
 */
package io.talaria.it.kit;
