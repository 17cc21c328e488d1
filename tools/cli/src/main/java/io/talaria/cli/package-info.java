// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/** The command {@code talaria} and what its subcommands share. */
package io.talaria.cli;
