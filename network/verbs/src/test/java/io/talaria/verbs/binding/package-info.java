// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/** Tests of what is as in C. */
package io.talaria.verbs.binding;
