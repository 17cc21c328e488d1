// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/**
 * Third-party servers and clients, each used as its documentation shows, behind one interface. None
 * of them knows of Talaria. Tests see that they behave, {@code talaria bench programs} how fast
 * they are.
 */
package io.talaria.programs;
