// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/** What the tests of several modules share. */
package io.talaria.testsupport;
