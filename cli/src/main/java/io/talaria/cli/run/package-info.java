// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/** The subcommand that runs any command with Talaria switched on. */
package io.talaria.cli.run;
