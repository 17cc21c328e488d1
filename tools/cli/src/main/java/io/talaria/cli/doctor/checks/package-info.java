// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/** The checks of {@code talaria doctor}, one class for each topic, and what they read. */
package io.talaria.cli.doctor.checks;
