// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/**
 * The terminal's screen, taken and given back in one way: {@code ss}, {@code ports}, {@code top}.
 */
package io.talaria.cli.screen;
