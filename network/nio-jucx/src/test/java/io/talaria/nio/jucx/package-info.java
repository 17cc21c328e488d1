// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/** Tests of the binding on JUCX; those of nio-ucx run on it, too. */
package io.talaria.nio.jucx;
