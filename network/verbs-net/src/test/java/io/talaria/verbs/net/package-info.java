// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/** Tests of connections on the provider in memory that verbs' tests have. */
package io.talaria.verbs.net;
