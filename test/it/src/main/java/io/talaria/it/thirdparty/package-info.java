// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/** One program for both sides of each of the third-party programs. */
package io.talaria.it.thirdparty;
