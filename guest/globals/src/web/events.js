// `Event`, `CustomEvent` and `EventTarget`, as the web has them for targets that have no parents. What a listener throws is handed to
// `report`, since nobody could catch it.
(report, now, maxListeners) => {
  const { defineProperty, getPrototypeOf } = Object;
  const { apply } = Reflect;
  const takes = (what, count, given) => {
    if (given < count) throw new TypeError(`${what} takes ${count} argument${count > 1 ? "s" : ""}, and was given ${given}`);
  };
  const optionsOf = (options, what) => {
    if (options === undefined || options === null) return {};
    if (typeof options !== "object" && typeof options !== "function") throw new TypeError(`the options of ${what} must be an object`);
    return options;
  };
  const NONE = 0, AT_TARGET = 2;
  let begin, end, isHalted, enter;

  class Event {
    #type; #bubbles; #cancelable; #composed; #time = now();
    #prevented = false; #stopped = false; #halted = false; #passive = false; #underWay = false;
    #target = null; #current = null;
    constructor(type, options = undefined) {
      takes("Event", 1, arguments.length);
      this.#type = `${type}`;
      const { bubbles, cancelable, composed } = optionsOf(options, "Event");
      this.#bubbles = Boolean(bubbles);
      this.#cancelable = Boolean(cancelable);
      this.#composed = Boolean(composed);
    }
    get type() { return this.#type; }
    get target() { return this.#target; }
    get currentTarget() { return this.#current; }
    get srcElement() { return this.#target; }
    get bubbles() { return this.#bubbles; }
    get cancelable() { return this.#cancelable; }
    get composed() { return this.#composed; }
    get timeStamp() { return this.#time; }
    get isTrusted() { return false; }
    get defaultPrevented() { return this.#cancelable && this.#prevented; }
    get returnValue() { return !this.#cancelable || !this.#prevented; }
    get eventPhase() { return this.#underWay ? AT_TARGET : NONE; }
    get cancelBubble() { return this.#stopped; }
    set cancelBubble(stops) { if (stops) this.#stopped = true; }
    composedPath() { return this.#underWay ? [this.#current] : []; }
    preventDefault() { if (!this.#passive) this.#prevented = true; }
    stopPropagation() { this.#stopped = true; }
    stopImmediatePropagation() { this.#stopped = this.#halted = true; }
    static {
      begin = (event, target) => {
        if (event.#underWay) throw new DOMException("the event is being dispatched already", "InvalidStateError");
        event.#underWay = true;
        event.#target = event.#current = target;
      };
      end = (event) => {
        event.#underWay = event.#stopped = event.#halted = event.#passive = false;
        event.#current = null;
      };
      enter = (event, isPassive) => { event.#passive = isPassive; };
      isHalted = (event) => event.#halted;
    }
  }
  for (const [name, value] of [["NONE", 0], ["CAPTURING_PHASE", 1], ["AT_TARGET", 2], ["BUBBLING_PHASE", 3]]) {
    for (const holder of [Event, Event.prototype]) defineProperty(holder, name, { value, enumerable: true });
  }

  class CustomEvent extends Event {
    #detail;
    constructor(type, options = undefined) {
      takes("CustomEvent", 1, arguments.length);
      super(type, options);
      this.#detail = optionsOf(options, "CustomEvent").detail ?? null;
    }
    get detail() { return this.#detail; }
  }

  class EventTarget {
    // By type: a list of { callback, capture, once, passive, isGone }.
    #listeners = new Map();
    #count = 0;
    addEventListener(type, callback, options = undefined) {
      takes("addEventListener", 2, arguments.length);
      const { capture, once, passive, signal } = typeof options === "boolean" ? { capture: options } : optionsOf(options, "addEventListener");
      if (callback === null || callback === undefined) return;
      if (typeof callback !== "function" && typeof callback !== "object") throw new TypeError("a listener must be a function, or an object with handleEvent");
      if (signal !== undefined && !(signal instanceof AbortSignal)) throw new TypeError("the signal of addEventListener must be an AbortSignal");
      if (signal?.aborted) return;
      type = `${type}`;
      const list = this.#listeners.get(type) ?? [];
      if (list.some((other) => other.callback === callback && other.capture === Boolean(capture))) return;
      if (this.#count >= maxListeners) throw new RangeError(`EventTarget: more than ${maxListeners} listeners`);
      this.#count++;
      list.push({ callback, capture: Boolean(capture), once: Boolean(once), passive: Boolean(passive), isGone: false });
      this.#listeners.set(type, list);
      signal?.addEventListener("abort", () => this.removeEventListener(type, callback, { capture }));
    }
    removeEventListener(type, callback, options = undefined) {
      takes("removeEventListener", 2, arguments.length);
      const capture = Boolean(typeof options === "object" && options !== null ? options.capture : options);
      this.#remove(`${type}`, (other) => other.callback === callback && other.capture === capture);
    }
    dispatchEvent(event) {
      takes("dispatchEvent", 1, arguments.length);
      if (!(typeof event === "object" && event !== null && #listeners in this)) throw new TypeError("dispatchEvent takes an Event");
      begin(event, this);
      try {
        for (const listener of [...(this.#listeners.get(event.type) ?? [])]) {
          if (isHalted(event)) break;
          if (listener.isGone) continue;
          if (listener.once) this.#remove(event.type, (other) => other === listener);
          enter(event, listener.passive);
          try {
            const { callback } = listener;
            if (typeof callback === "function") apply(callback, this, [event]);
            else callback.handleEvent(event);
          } catch (error) {
            report(error);
          }
          enter(event, false);
        }
      } finally {
        end(event);
      }
      return !event.defaultPrevented;
    }
    #remove(type, isMeant) {
      const list = this.#listeners.get(type);
      const at = list?.findIndex(isMeant) ?? -1;
      if (at < 0) return;
      list[at].isGone = true;
      this.#count--;
      if (list.length > 1) list.splice(at, 1);
      else this.#listeners.delete(type);
    }
  }

  for (const made of [Event, CustomEvent, EventTarget]) {
    for (const name of Object.getOwnPropertyNames(made.prototype)) {
      if (name === "constructor") continue;
      const { get, set, value } = Object.getOwnPropertyDescriptor(made.prototype, name);
      if (get) defineProperty(made.prototype, name, { get, set, enumerable: true, configurable: true });
      else if (typeof value === "function") defineProperty(made.prototype, name, { value, writable: true, enumerable: true, configurable: true });
    }
    defineProperty(made.prototype, Symbol.toStringTag, { value: made.name, configurable: true });
    defineProperty(globalThis, made.name, { value: made, writable: true, configurable: true });
  }
  // A signal is a target too, with listeners of its own.
  Object.setPrototypeOf(AbortSignal, EventTarget);
  Object.setPrototypeOf(AbortSignal.prototype, EventTarget.prototype);
}
