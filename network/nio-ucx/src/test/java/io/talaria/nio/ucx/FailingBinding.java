// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.ucx;

import io.talaria.nio.ucx.binding.BoundEndpoint;
import io.talaria.nio.ucx.binding.BoundWorker;
import io.talaria.nio.ucx.binding.Received;
import io.talaria.nio.ucx.binding.UcxBinding;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A binding in front of the real one, in which a test takes over calls of workers, endpoints and
 * received bytes by their names. Any thread.
 */
final class FailingBinding {
  private static final List<Class<?>> OURS =
      List.of(BoundWorker.class, BoundEndpoint.class, Received.class);

  final UcxBinding binding;
  private final Map<String, Answer> answers = new ConcurrentHashMap<>();

  FailingBinding(UcxBinding real) {
    binding = (UcxBinding) inFrontOf(UcxBinding.class, real);
  }

  /** Takes over a call, by the thread that makes it. */
  @FunctionalInterface
  interface Answer {
    Object answer(Call call) throws Throwable;
  }

  /** A call of the transport's. */
  static final class Call {
    private final Object target;
    private final Method method;
    private final Object[] arguments;

    private Call(Object target, Method method, Object[] arguments) {
      this.target = target;
      this.method = method;
      this.arguments = arguments;
    }

    /** One of what it is called with. */
    Object argument(int index) {
      return arguments[index];
    }

    /** Lets it go to the real binding. */
    Object proceed() throws Throwable {
      try {
        return method.invoke(target, arguments);
      } catch (InvocationTargetException e) {
        throw e.getCause();
      }
    }
  }

  private record Front(Object target, FailingBinding failing) implements InvocationHandler {
    @Override
    public Object invoke(Object proxy, Method method, Object[] arguments) throws Throwable {
      Object[] real = arguments == null ? new Object[0] : arguments.clone();
      for (int i = 0; i < real.length; i++) {
        real[i] = behind(real[i]);
      }
      Call call = new Call(target, method, real);
      Answer answer = failing.answers.get(method.getName());
      Object result = answer == null ? call.proceed() : answer.answer(call);
      return OURS.contains(method.getReturnType())
          ? failing.inFrontOf(method.getReturnType(), result)
          : result;
    }
  }

  private Object inFrontOf(Class<?> type, Object target) {
    return Proxy.newProxyInstance(
        FailingBinding.class.getClassLoader(), new Class<?>[] {type}, new Front(target, this));
  }

  /** What the real binding knows it as. */
  static Object behind(Object any) {
    return any != null
            && Proxy.isProxyClass(any.getClass())
            && Proxy.getInvocationHandler(any) instanceof Front front
        ? front.target
        : any;
  }

  /** Takes over all calls of that name from now on. */
  void on(String method, Answer answer) {
    answers.put(method, answer);
  }

  /** Lets calls of that name go to the real binding again. */
  void restore(String method) {
    answers.remove(method);
  }
}
