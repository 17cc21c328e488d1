// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/** {@code talaria top}: ports, the fabric and connections in a live view. */
package io.talaria.cli.top;
