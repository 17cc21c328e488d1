// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/** {@code talaria top}: ports, the fabric and connections on a screen that refreshes itself. */
package io.talaria.cli.top;
