// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/** Tests of verbs from Java. */
package io.talaria.verbs;
