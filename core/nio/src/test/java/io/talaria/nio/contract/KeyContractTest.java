// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.contract;

import static io.talaria.nio.contract.Bytes.bytes;
import static io.talaria.nio.contract.Bytes.read;
import static java.nio.channels.SelectionKey.OP_ACCEPT;
import static java.nio.channels.SelectionKey.OP_CONNECT;
import static java.nio.channels.SelectionKey.OP_READ;
import static java.nio.channels.SelectionKey.OP_WRITE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.channels.CancelledKeyException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.IllegalBlockingModeException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Registrations: keys, their sets, their end. */
class KeyContractTest extends Contract {
  private static final long SOON_MS = 10_000;

  KeyContractTest(Variant variant) {
    super(variant);
  }

  /** A registered end of a pair. */
  private final class Registered {
    final SocketChannel channel;
    final SocketChannel peer;
    final Selector selector;
    final SelectionKey key;

    Registered(int ops) throws Exception {
      Pair pair = pair();
      channel = pair.client;
      peer = pair.server;
      selector = selectorFor(channel);
      key = register(channel, selector, ops);
    }

    /** Makes the channel readable. */
    Registered fed() throws Exception {
      peer.write(bytes(5, 1));
      return this;
    }
  }

  // ---- registering

  @Test
  void aKeyKnowsItsChannelItsSelectorAndItsInterest() throws Exception {
    Registered it = new Registered(OP_READ);
    assertThat(it.key.channel()).isSameAs(it.channel);
    assertThat(it.key.selector()).isSameAs(it.selector);
    assertThat(it.key.interestOps()).isEqualTo(OP_READ);
    assertThat(it.key.readyOps()).isZero();
    assertThat(it.key.isValid()).isTrue();
    assertThat(it.key.attachment()).isNull();
  }

  @Test
  void aRegisteredChannelKnowsItsKey() throws Exception {
    Registered it = new Registered(0);
    assertThat(it.channel.isRegistered()).isTrue();
    assertThat(it.channel.keyFor(it.selector)).isSameAs(it.key);
    assertThat(it.channel.keyFor(selectorFor(it.channel))).isNull();
    assertThat(it.peer.isRegistered()).isFalse();
    assertThat(it.selector.keys()).containsExactly(it.key);
  }

  @Test
  void aBlockingChannelCannotBeRegistered() throws Exception {
    Pair pair = pair();
    Selector selector = selectorFor(pair.client);
    assertThatThrownBy(() -> pair.client.register(selector, OP_READ))
        .isInstanceOf(IllegalBlockingModeException.class);
    assertThat(selector.keys()).isEmpty();
  }

  @Test
  void aClosedChannelCannotBeRegistered() throws Exception {
    Pair pair = pair();
    Selector selector = selectorFor(pair.client);
    pair.client.configureBlocking(false);
    pair.client.close();
    assertThatThrownBy(() -> pair.client.register(selector, OP_READ))
        .isInstanceOf(ClosedChannelException.class);
    assertThat(selector.keys()).isEmpty();
  }

  @Test
  void operationsThatAChannelDoesNotHaveAreRefused() throws Exception {
    Pair pair = pair();
    Selector selector = selectorFor(pair.client);
    pair.client.configureBlocking(false);
    assertThatThrownBy(() -> pair.client.register(selector, OP_ACCEPT))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> pair.client.register(selector, OP_READ | 32))
        .isInstanceOf(IllegalArgumentException.class);
    assertThat(pair.client.isRegistered()).isFalse();
    ServerSocketChannel listener = listener();
    Selector other = selectorFor(listener);
    listener.configureBlocking(false);
    assertThatThrownBy(() -> listener.register(other, OP_READ))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void aClosedSelectorTakesNoRegistration() throws Exception {
    Pair pair = pair();
    Selector selector = selectorFor(pair.client);
    selector.close();
    pair.client.configureBlocking(false);
    assertThatThrownBy(() -> pair.client.register(selector, OP_READ))
        .isInstanceOf(ClosedSelectorException.class);
    assertThat(pair.client.isRegistered()).isFalse();
  }

  @Test
  void noSelectorIsRefused() throws Exception {
    Pair pair = pair();
    pair.client.configureBlocking(false);
    assertThatThrownBy(() -> pair.client.register(null, OP_READ))
        .isInstanceOf(NullPointerException.class);
  }

  @Test
  void registeringAgainChangesInterestAndAttachmentOfTheSameKey() throws Exception {
    Registered it = new Registered(OP_READ);
    it.key.attach("a");
    assertThat(it.channel.register(it.selector, OP_WRITE, "b")).isSameAs(it.key);
    assertThat(it.key.interestOps()).isEqualTo(OP_WRITE);
    assertThat(it.key.attachment()).isEqualTo("b");
    assertThat(it.channel.register(it.selector, OP_READ)).isSameAs(it.key);
    assertThat(it.key.attachment()).isNull();
    assertThat(it.selector.keys()).hasSize(1);
  }

  @Test
  void registeringAgainCountsFromTheNextSelect() throws Exception {
    Registered it = new Registered(OP_READ);
    assertThat(it.selector.selectNow()).isZero();
    it.channel.register(it.selector, OP_WRITE);
    assertThat(it.selector.select(SOON_MS)).isEqualTo(1);
    assertThat(it.key.isWritable()).isTrue();
  }

  @Test
  void aChannelMayBeRegisteredWithSeveralSelectors() throws Exception {
    Registered it = new Registered(OP_READ).fed();
    Selector other = selectorFor(it.channel);
    SelectionKey key = it.channel.register(other, OP_WRITE);
    assertThat(key).isNotSameAs(it.key);
    assertThat(it.selector.select(SOON_MS)).isEqualTo(1);
    assertThat(it.key.readyOps()).isEqualTo(OP_READ);
    assertThat(other.select(SOON_MS)).isEqualTo(1);
    assertThat(key.readyOps()).isEqualTo(OP_WRITE);
  }

  @Test
  void anUnconnectedChannelMayBeRegistered() throws Exception {
    SocketChannel channel = client();
    Selector selector = selectorFor(channel);
    SelectionKey key = register(channel, selector, OP_CONNECT);
    ServerSocketChannel listener = listener();
    if (!channel.connect(listener.getLocalAddress())) {
      assertThat(selector.select(SOON_MS)).isEqualTo(1);
      assertThat(key.isConnectable()).isTrue();
      assertThat(channel.finishConnect()).isTrue();
    }
    SocketChannel server = opened(listener.accept());
    key.interestOps(OP_READ);
    server.write(bytes(1, 1));
    selector.selectedKeys().clear();
    assertThat(selector.select(SOON_MS)).isEqualTo(1);
    assertThat(key.isReadable()).isTrue();
    assertThat(key.isConnectable()).isFalse();
  }

  @Test
  void anUnboundListenerMayBeRegistered() throws Exception {
    ServerSocketChannel listener = unbound();
    Selector selector = selectorFor(listener);
    SelectionKey key = register(listener, selector, OP_ACCEPT);
    listener.bind(new java.net.InetSocketAddress(Pair.LOOPBACK, 0));
    SocketChannel client = client();
    client.connect(listener.getLocalAddress());
    assertThat(selector.select(SOON_MS)).isEqualTo(1);
    assertThat(key.isAcceptable()).isTrue();
    assertThat(opened(listener.accept())).isNotNull();
  }

  // ---- interest

  @Test
  void interestThatAChannelDoesNotHaveIsRefused() throws Exception {
    Registered it = new Registered(OP_READ);
    assertThatThrownBy(() -> it.key.interestOps(OP_ACCEPT))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> it.key.interestOpsOr(OP_ACCEPT))
        .isInstanceOf(IllegalArgumentException.class);
    assertThat(it.key.interestOps()).isEqualTo(OP_READ);
  }

  @Test
  void interestOpsGivesTheKeyBack() throws Exception {
    Registered it = new Registered(OP_READ);
    assertThat(it.key.interestOps(OP_WRITE)).isSameAs(it.key);
    assertThat(it.key.interestOps()).isEqualTo(OP_WRITE);
  }

  @Test
  void interestIsAddedAndTakenAway() throws Exception {
    Registered it = new Registered(OP_READ);
    assertThat(it.key.interestOpsOr(OP_WRITE)).isEqualTo(OP_READ);
    assertThat(it.key.interestOps()).isEqualTo(OP_READ | OP_WRITE);
    assertThat(it.key.interestOpsAnd(~OP_READ)).isEqualTo(OP_READ | OP_WRITE);
    assertThat(it.key.interestOps()).isEqualTo(OP_WRITE);
    assertThat(it.key.interestOpsAnd(0)).isEqualTo(OP_WRITE);
    assertThat(it.key.interestOps()).isZero();
  }

  @Test
  void interestOfAnotherThreadCountsFromTheNextSelect() throws Exception {
    Registered it = new Registered(0).fed();
    Doing<Integer> select = Doing.start(() -> it.selector.select()).whenWaiting();
    it.key.interestOps(OP_READ);
    it.selector.wakeup();
    int n = select.result();
    assertThat(n == 1 ? n : it.selector.select(SOON_MS)).isEqualTo(1);
  }

  @Test
  void noInterestReportsNothing() throws Exception {
    Registered it = new Registered(0).fed();
    it.channel.write(bytes(1, 1));
    Await.readable(it.peer);
    assertThat(it.selector.selectNow()).isZero();
    assertThat(it.selector.select(5)).isZero();
  }

  // ---- attachments

  @Test
  void attachmentsAreExchanged() throws Exception {
    Registered it = new Registered(OP_READ);
    assertThat(it.key.attach("a")).isNull();
    assertThat(it.key.attach("b")).isEqualTo("a");
    assertThat(it.key.attachment()).isEqualTo("b");
    assertThat(it.key.attach(null)).isEqualTo("b");
    assertThat(it.key.attachment()).isNull();
  }

  @Test
  void anAttachmentGivenAtRegistrationIsThere() throws Exception {
    Pair pair = pair();
    pair.client.configureBlocking(false);
    Object mine = new Object();
    SelectionKey key = pair.client.register(selectorFor(pair.client), OP_READ, mine);
    assertThat(key.attachment()).isSameAs(mine);
  }

  @Test
  void anAttachmentOutlivesItsKey() throws Exception {
    Registered it = new Registered(OP_READ);
    it.key.attach("a");
    it.key.cancel();
    it.selector.selectNow();
    assertThat(it.key.attachment()).isEqualTo("a");
    assertThat(it.key.attach("b")).isEqualTo("a");
  }

  // ---- cancelling

  @Test
  void aCancelledKeyIsInvalidAtOnce() throws Exception {
    Registered it = new Registered(OP_READ);
    it.key.cancel();
    it.key.cancel();
    assertThat(it.key.isValid()).isFalse();
    assertThat(it.key.channel()).isSameAs(it.channel);
    assertThat(it.key.selector()).isSameAs(it.selector);
  }

  @Test
  void aCancelledKeyRefusesItsOperations() throws Exception {
    Registered it = new Registered(OP_READ);
    it.key.cancel();
    assertThatThrownBy(it.key::interestOps).isInstanceOf(CancelledKeyException.class);
    assertThatThrownBy(() -> it.key.interestOps(0)).isInstanceOf(CancelledKeyException.class);
    assertThatThrownBy(() -> it.key.interestOpsOr(0)).isInstanceOf(CancelledKeyException.class);
    assertThatThrownBy(() -> it.key.interestOpsAnd(0)).isInstanceOf(CancelledKeyException.class);
    assertThatThrownBy(it.key::readyOps).isInstanceOf(CancelledKeyException.class);
    assertThatThrownBy(it.key::isReadable).isInstanceOf(CancelledKeyException.class);
  }

  @Test
  void aCancelledKeyStaysInTheSetUntilTheNextSelect() throws Exception {
    Registered it = new Registered(OP_READ);
    it.key.cancel();
    assertThat(it.selector.keys()).containsExactly(it.key);
    assertThat(it.channel.isRegistered()).isTrue();
    assertThat(it.selector.selectNow()).isZero();
    assertThat(it.selector.keys()).isEmpty();
    assertThat(it.channel.isRegistered()).isFalse();
    assertThat(it.channel.keyFor(it.selector)).isNull();
  }

  @Test
  void aCancelledKeyLeavesTheSelectedSetWithTheNextSelect() throws Exception {
    Registered it = new Registered(OP_WRITE);
    assertThat(it.selector.select(SOON_MS)).isEqualTo(1);
    it.key.cancel();
    assertThat(it.selector.selectedKeys()).containsExactly(it.key);
    assertThat(it.selector.selectNow()).isZero();
    assertThat(it.selector.selectedKeys()).isEmpty();
  }

  @Test
  void registeringOverACancelledKeyIsRefusedUntilTheNextSelect() throws Exception {
    Registered it = new Registered(OP_READ);
    it.key.cancel();
    assertThatThrownBy(() -> it.channel.register(it.selector, OP_READ))
        .isInstanceOf(CancelledKeyException.class);
    it.selector.selectNow();
    SelectionKey again = it.channel.register(it.selector, OP_READ, "c");
    assertThat(again).isNotSameAs(it.key);
    assertThat(again.attachment()).isEqualTo("c");
    it.fed();
    assertThat(it.selector.select(SOON_MS)).isEqualTo(1);
    assertThat(it.selector.selectedKeys()).containsExactly(again);
  }

  @Test
  void aCancelledKeyIsNotSelectedAnyMore() throws Exception {
    Registered it = new Registered(OP_READ | OP_WRITE).fed();
    it.key.cancel();
    assertThat(it.selector.select(5)).isZero();
    assertThat(it.selector.selectedKeys()).isEmpty();
  }

  @Test
  void aSelectWithATimeoutTakesCancelledKeysToo() throws Exception {
    Registered it = new Registered(OP_READ);
    it.key.cancel();
    assertThat(it.selector.select(1)).isZero();
    assertThat(it.selector.keys()).isEmpty();
  }

  @Test
  void anotherSelectorTakesAChannelWhoseKeyWasCancelled() throws Exception {
    Registered it = new Registered(OP_READ);
    it.key.cancel();
    Selector other = selectorFor(it.channel);
    SelectionKey key = it.channel.register(other, OP_READ);
    it.fed();
    assertThat(other.select(SOON_MS)).isEqualTo(1);
    assertThat(key.isReadable()).isTrue();
    it.selector.selectNow();
    assertThat(it.channel.isRegistered()).isTrue();
    assertThat(it.channel.keyFor(it.selector)).isNull();
  }

  @Test
  void aChannelWorksOnAfterItsKeyIsGone() throws Exception {
    Registered it = new Registered(OP_READ);
    it.key.cancel();
    it.selector.selectNow();
    it.channel.configureBlocking(true);
    Doing<Integer> reader = Doing.start(() -> read(it.channel)).whenWaiting();
    it.fed();
    assertThat(reader.result()).isEqualTo(5);
  }

  // ---- the mode of registered channels

  @Test
  void aRegisteredChannelCannotBecomeBlocking() throws Exception {
    Registered it = new Registered(OP_READ);
    assertThatThrownBy(() -> it.channel.configureBlocking(true))
        .isInstanceOf(IllegalBlockingModeException.class);
    assertThat(it.channel.configureBlocking(false)).isSameAs(it.channel);
    ServerSocketChannel listener = listener();
    register(listener, selectorFor(listener), OP_ACCEPT);
    assertThatThrownBy(() -> listener.configureBlocking(true))
        .isInstanceOf(IllegalBlockingModeException.class);
  }

  @Test
  void withACancelledKeyAChannelMayBecomeBlockingAtOnce() throws Exception {
    Registered it = new Registered(OP_READ);
    it.selector.selectNow();
    it.key.cancel();
    it.channel.configureBlocking(true);
    assertThat(it.channel.isBlocking()).isTrue();
    it.fed();
    assertThat(read(it.channel)).isEqualTo(5);
    it.selector.selectNow();
    assertThat(it.channel.isRegistered()).isFalse();
  }

  @Test
  void aListenerWithACancelledKeyMayBecomeBlockingAtOnce() throws Exception {
    ServerSocketChannel listener = listener();
    Selector selector = selectorFor(listener);
    SelectionKey key = register(listener, selector, OP_ACCEPT);
    selector.selectNow();
    key.cancel();
    listener.configureBlocking(true);
    SocketChannel client = client();
    client.connect(listener.getLocalAddress());
    assertThat(opened(listener.accept()).isConnected()).isTrue();
  }

  // ---- closing channels

  @Test
  void closingAChannelCancelsItsKeys() throws Exception {
    Registered it = new Registered(OP_READ);
    SelectionKey other = it.channel.register(selectorFor(it.channel), OP_READ);
    it.channel.close();
    assertThat(it.key.isValid()).isFalse();
    assertThat(other.isValid()).isFalse();
    assertThat(it.selector.keys()).containsExactly(it.key);
    assertThat(it.selector.selectNow()).isZero();
    assertThat(it.selector.keys()).isEmpty();
  }

  @Test
  void thePeerSeesTheCloseOfARegisteredChannelAtOnce() throws Exception {
    Registered it = new Registered(OP_READ);
    it.selector.selectNow();
    Doing<Integer> reader = Doing.start(() -> read(it.peer)).whenWaiting();
    it.channel.close();
    assertThat(reader.result()).isEqualTo(-1);
  }

  @Test
  void thePeerSeesTheCloseOfAChannelWhoseSelectorSleeps() throws Exception {
    Registered it = new Registered(OP_READ);
    Doing<Integer> select = Doing.start(() -> it.selector.select()).whenWaiting();
    it.channel.close();
    assertThat(read(it.peer)).isEqualTo(-1);
    it.selector.wakeup();
    assertThat(select.result()).isZero();
    assertThat(it.selector.keys()).isEmpty();
  }

  @Test
  void aPortOfARegisteredListenerIsFreeAfterCloseAndSelect() throws Exception {
    ServerSocketChannel listener = listener();
    Selector selector = selectorFor(listener);
    register(listener, selector, OP_ACCEPT);
    selector.selectNow();
    java.net.SocketAddress address = listener.getLocalAddress();
    listener.close();
    selector.selectNow();
    ServerSocketChannel again = unbound();
    again.bind(address);
    assertThat(again.getLocalAddress()).isEqualTo(address);
  }

  // ---- the sets

  @Test
  void theSetsAreAlwaysTheSameObjects() throws Exception {
    Registered it = new Registered(OP_WRITE);
    Set<SelectionKey> keys = it.selector.keys();
    Set<SelectionKey> selected = it.selector.selectedKeys();
    it.selector.select(SOON_MS);
    assertThat(it.selector.keys()).isSameAs(keys);
    assertThat(it.selector.selectedKeys()).isSameAs(selected);
    assertThat(selected).containsExactly(it.key);
  }

  @Test
  void theSetOfKeysCannotBeChanged() throws Exception {
    Registered it = new Registered(OP_WRITE);
    assertThatThrownBy(() -> it.selector.keys().remove(it.key))
        .isInstanceOf(UnsupportedOperationException.class);
    assertThatThrownBy(() -> it.selector.keys().clear())
        .isInstanceOf(UnsupportedOperationException.class);
    assertThatThrownBy(() -> it.selector.keys().add(it.key))
        .isInstanceOf(UnsupportedOperationException.class);
    assertThatThrownBy(
            () -> {
              Iterator<SelectionKey> each = it.selector.keys().iterator();
              each.next();
              each.remove();
            })
        .isInstanceOf(UnsupportedOperationException.class);
    assertThat(it.selector.keys()).containsExactly(it.key);
  }

  @Test
  void selectedKeysCannotBeAdded() throws Exception {
    Registered it = new Registered(OP_WRITE);
    assertThatThrownBy(() -> it.selector.selectedKeys().add(it.key))
        .isInstanceOf(UnsupportedOperationException.class);
    assertThatThrownBy(() -> it.selector.selectedKeys().addAll(Set.of(it.key)))
        .isInstanceOf(UnsupportedOperationException.class);
    assertThat(it.selector.selectedKeys()).isEmpty();
  }

  @Test
  void selectedKeysCanBeRemoved() throws Exception {
    Registered it = new Registered(OP_WRITE);
    it.selector.select(SOON_MS);
    assertThat(it.selector.selectedKeys().remove(it.key)).isTrue();
    assertThat(it.selector.selectedKeys().remove(it.key)).isFalse();
    it.selector.select(SOON_MS);
    it.selector.selectedKeys().clear();
    assertThat(it.selector.selectedKeys()).isEmpty();
    assertThat(it.selector.keys()).containsExactly(it.key);
    assertThat(it.key.isValid()).isTrue();
  }

  @Test
  void selectedKeysCanBeRemovedByTheirIterator() throws Exception {
    Pair pair = pair();
    if (pair.client.provider() != pair.server.provider()) {
      return;
    }
    Selector selector = selectorFor(pair.client);
    register(pair.client, selector, OP_WRITE);
    register(pair.server, selector, OP_WRITE);
    while (selector.selectedKeys().size() < 2) {
      selector.select(SOON_MS);
    }
    Iterator<SelectionKey> each = selector.selectedKeys().iterator();
    assertThatThrownBy(each::remove).isInstanceOf(IllegalStateException.class);
    SelectionKey first = each.next();
    each.remove();
    assertThatThrownBy(each::remove).isInstanceOf(IllegalStateException.class);
    assertThat(selector.selectedKeys()).hasSize(1).doesNotContain(first);
    each.next();
    each.remove();
    assertThat(each.hasNext()).isFalse();
    assertThatThrownBy(each::next).isInstanceOf(NoSuchElementException.class);
    assertThat(selector.selectedKeys()).isEmpty();
  }

  @Test
  void selectedKeysCanBeRemovedInBulk() throws Exception {
    Registered it = new Registered(OP_WRITE);
    it.selector.select(SOON_MS);
    assertThat(it.selector.selectedKeys().removeIf(SelectionKey::isReadable)).isFalse();
    assertThat(it.selector.selectedKeys().removeIf(SelectionKey::isWritable)).isTrue();
    it.selector.select(SOON_MS);
    assertThat(it.selector.selectedKeys().retainAll(Set.of())).isTrue();
    it.selector.select(SOON_MS);
    assertThat(it.selector.selectedKeys().removeAll(Set.of(it.key))).isTrue();
    assertThat(it.selector.selectedKeys()).isEmpty();
  }

  @Test
  void selectedKeysCanBeCopied() throws Exception {
    Registered it = new Registered(OP_WRITE);
    it.selector.select(SOON_MS);
    Set<SelectionKey> selected = it.selector.selectedKeys();
    assertThat(selected.toArray()).containsExactly(it.key);
    assertThat(Set.copyOf(selected)).containsExactly(it.key);
    assertThat(selected.contains(it.key)).isTrue();
    assertThat(selected.contains(null)).isFalse();
    assertThat(selected).isEqualTo(Set.of(it.key));
    assertThat(selected.stream().map(SelectionKey::channel)).containsExactly(it.channel);
  }

  // ---- closing selectors

  @Test
  void aClosedSelectorRefusesEverythingButWakeupAndClose() throws Exception {
    Registered it = new Registered(OP_READ);
    it.selector.close();
    it.selector.close();
    assertThat(it.selector.isOpen()).isFalse();
    assertThat(it.selector.wakeup()).isSameAs(it.selector);
    assertThatThrownBy(it.selector::keys).isInstanceOf(ClosedSelectorException.class);
    assertThatThrownBy(it.selector::selectedKeys).isInstanceOf(ClosedSelectorException.class);
    assertThatThrownBy(it.selector::select).isInstanceOf(ClosedSelectorException.class);
    assertThatThrownBy(it.selector::selectNow).isInstanceOf(ClosedSelectorException.class);
    assertThatThrownBy(() -> it.selector.select(1)).isInstanceOf(ClosedSelectorException.class);
    assertThatThrownBy(() -> it.selector.select(k -> {}))
        .isInstanceOf(ClosedSelectorException.class);
    assertThatThrownBy(() -> it.selector.selectNow(k -> {}))
        .isInstanceOf(ClosedSelectorException.class);
    assertThatThrownBy(() -> it.selector.select(k -> {}, 1))
        .isInstanceOf(ClosedSelectorException.class);
  }

  @Test
  void closingASelectorCancelsItsKeysAndLeavesTheChannelsOpen() throws Exception {
    Registered it = new Registered(OP_READ);
    it.selector.close();
    assertThat(it.key.isValid()).isFalse();
    assertThat(it.channel.isOpen()).isTrue();
    assertThat(it.channel.isRegistered()).isFalse();
    assertThat(it.channel.keyFor(it.selector)).isNull();
    it.channel.configureBlocking(true);
    it.fed();
    assertThat(read(it.channel)).isEqualTo(5);
  }

  @Test
  void closingASelectorThatSleepsEndsItsSelect() throws Exception {
    Registered it = new Registered(OP_READ);
    Doing<Integer> select = Doing.start(() -> it.selector.select()).whenWaiting();
    it.selector.close();
    Throwable failure = select.failure();
    if (failure != null) {
      assertThat(failure).isInstanceOf(ClosedSelectorException.class);
    }
    assertThat(it.channel.isRegistered()).isFalse();
  }

  @Test
  void afterItsSelectorIsClosedAChannelMayJoinAnother() throws Exception {
    Registered it = new Registered(OP_READ);
    it.selector.selectNow();
    it.selector.close();
    Selector other = selectorFor(it.channel);
    SelectionKey key = it.channel.register(other, OP_READ);
    it.fed();
    assertThat(other.select(SOON_MS)).isEqualTo(1);
    assertThat(key.isReadable()).isTrue();
  }

  @Test
  void aSelectorKnowsItsProvider() throws Exception {
    Pair pair = pair();
    assertThat(selectorFor(pair.client).provider()).isSameAs(variant.client());
    assertThat(selectorFor(pair.server).provider()).isSameAs(variant.server());
    assertThat(selectorFor(pair.client).isOpen()).isTrue();
    assertThat(selectorFor(pair.client).keys()).isEmpty();
    assertThat(selectorFor(pair.client).selectedKeys()).isEmpty();
  }
}
