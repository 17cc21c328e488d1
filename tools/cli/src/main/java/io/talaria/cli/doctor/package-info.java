// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/**
 * The command {@code talaria doctor}: what this machine can do, what is missing, and what to do.
 */
package io.talaria.cli.doctor;
