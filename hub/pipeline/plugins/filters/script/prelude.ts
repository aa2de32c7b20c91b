/**
 * Globals available to scripts: `Event`, `emit`, and the entry point that calls their code. Runs inside the sandbox,
 * before the script.
 */

/** Names hidden from scripts live in the closure; the sandbox provides `host`. */
export const PRELUDE = `
(function (host) {
  "use strict";
  const secret = {};
  const numbers = new WeakMap();
  function numberOf(event) {
    const number = numbers.get(event);
    if (number === undefined) throw new TypeError("this isn't an event");
    return number;
  }
  class Event {
    constructor(fields, token) {
      numbers.set(this, token === secret ? fields : host.create(JSON.stringify(fields === undefined ? {} : fields)));
    }
    get(field) {
      const json = host.get(numberOf(this), String(field));
      return json === undefined ? undefined : JSON.parse(json);
    }
    set(field, value) {
      const number = numberOf(this);
      if (value instanceof Date) host.setTime(number, String(field), value.getTime());
      else {
        const json = JSON.stringify(value === undefined ? null : value);
        host.set(number, String(field), json === undefined ? "null" : json);
      }
      return value;
    }
    has(field) { return host.get(numberOf(this), String(field)) !== undefined; }
    include(field) { return this.has(field); }
    remove(field) {
      const json = host.remove(numberOf(this), String(field));
      return json === undefined ? undefined : JSON.parse(json);
    }
    tag(name) { host.tag(numberOf(this), String(name)); }
    cancel() { host.cancel(numberOf(this)); }
    uncancel() { host.uncancel(numberOf(this)); }
    cancelled() { return host.cancelled(numberOf(this)); }
    clone() { return new Event(host.clone(numberOf(this)), secret); }
    sprintf(format) { return host.format(numberOf(this), String(format)); }
    toHash() { return JSON.parse(host.all(numberOf(this))); }
    to_hash() { return this.toHash(); }
    toJSON() { return this.toHash(); }
    get timestamp() { return new Date(this.get("@timestamp")); }
    set timestamp(value) { this.set("@timestamp", value instanceof Date ? value : new Date(value)); }
  }
  Object.freeze(Event.prototype);
  globalThis.Event = Event;
  globalThis.emit = function emit(event) {
    host.emit(numberOf(event instanceof Event ? event : new Event(event)));
  };
  globalThis.console = { log() {}, warn() {}, error() {} };
  const maps = new Map();
  return {
    event(number) { return new Event(number, secret); },
    results(value, event) {
      if (value === false) return false;
      if (Array.isArray(value)) {
        if (!value.includes(event)) event.cancel();
        for (const each of value) if (each !== event && each !== null && each !== undefined) emit(each);
      }
      return true;
    },
    map(key) { return maps.get(key); },
    openMap(key, json) { maps.set(key, JSON.parse(json)); },
    closeMap(key) { const map = maps.get(key); maps.delete(key); return JSON.stringify(map === undefined ? {} : map); },
  };
})
`;
