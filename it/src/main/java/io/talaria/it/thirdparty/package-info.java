// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/**
 * Third-party servers and clients, each used as its documentation shows, by one common program.
 * None of them knows of Talaria.
 */
package io.talaria.it.thirdparty;
