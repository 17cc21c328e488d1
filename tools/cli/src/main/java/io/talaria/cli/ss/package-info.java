// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/** The command {@code talaria ss}: the live table of connections, read from counters files. */
package io.talaria.cli.ss;
