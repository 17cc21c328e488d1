// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/**
 * What all commands share: options and their checks, tables, units, progress, JSON, and failures
 * that are told to the user.
 */
package io.talaria.cli.harness;
