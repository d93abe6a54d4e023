/** shieldListeners: an abort signal whose listeners may throw. Node ends the process when a listener of an event throws. */

type Callback = (event: Event) => unknown;
type Listener = Callback | { handleEvent: Callback };

/**
 * Makes the listeners of `signal` drop what they throw. Give third parties such a signal: nobody can act on an
 * error in the clean-up after a cancelled call. Signals made from it by AbortSignal.any are not shielded.
 */
export function shieldListeners(signal: AbortSignal): void {
  Object.setPrototypeOf(signal, shieldedSignal);
}

const { addEventListener, removeEventListener } = EventTarget.prototype;
const handlers = new WeakMap<AbortSignal, Listener>();

/** A prototype, because defining the methods on each signal costs ten times as much. */
const shieldedSignal = Object.create(AbortSignal.prototype, {
  addEventListener: {
    value(this: AbortSignal, type: string, listener: Listener | null, options?: object) {
      if (listener) addEventListener.call(this, type, shieldOf(listener), options);
    },
  },
  removeEventListener: {
    value(this: AbortSignal, type: string, listener: Listener | null, options?: object) {
      if (listener) removeEventListener.call(this, type, shieldOf(listener), options);
    },
  },
  onabort: {
    get(this: AbortSignal) {
      return handlers.get(this) ?? null;
    },
    set(this: AbortSignal, handler: unknown) {
      const before = handlers.get(this);
      if (before) this.removeEventListener('abort', before);
      handlers.delete(this);
      if (typeof handler !== 'function') return;
      handlers.set(this, handler as Callback);
      this.addEventListener('abort', handler as Callback);
    },
  },
});

/** A listener has one shield, so that it can be removed, and is not added twice. */
const shields = new WeakMap<Listener, Callback>();

function shieldOf(listener: Listener): Callback {
  let shield = shields.get(listener);
  if (!shield) {
    shield = shieldFor(listener);
    shields.set(listener, shield);
  }
  return shield;
}

function shieldFor(listener: Listener): Callback {
  return function (this: unknown, event: Event) {
    try {
      const result: unknown =
        typeof listener === 'function' ? listener.call(this, event) : listener.handleEvent(event);
      // An async listener throws later.
      if (result instanceof Promise) result.catch(() => {});
    } catch {}
  };
}
