/** An event with what Logstash's field references reach: members of hashes, items of lists, and metadata. */

import { copyOf, type Hash, isHash, jsonOf, Time, Unspecified, type Value } from "./values.ts";

/** A field can't be set, or a reference isn't one. Filters that rescue errors tag the event. */
export class FieldError extends Error {}

/** Returns the path of a reference. Throws FieldError where brackets don't fit. */
export function pathOf(reference: string): string[] {
  if (!/[[\]]/.test(reference)) return [reference];
  if (!/^(?:\[[^[\]]+\])+$/.test(reference)) throw new FieldError(`invalid reference ${reference}`);
  return reference.slice(1, -1).split("][");
}

export class PlainEvent {
  data: Hash;
  metadata: Hash;
  isCancelled = false;

  constructor(data: Hash, metadata: Hash = new Map()) {
    this.data = data;
    this.metadata = metadata;
  }

  get(reference: string): Value | undefined {
    const [root, path] = this.#root(reference);
    let at: Value | undefined = root;
    for (const name of path) at = at === undefined ? undefined : member(at, name);
    return at;
  }

  /** Whether there is a member; null is one. */
  has(reference: string): boolean {
    const path = pathOf(reference);
    const value = this.get(reference);
    const parent = path.length > 1 ? this.get(referenceTo(path.slice(0, -1))) : this.data;
    if (Array.isArray(parent) && value === null) throw new Unspecified("items that are null aren't there");
    return value !== undefined;
  }

  set(reference: string, value: Value): void {
    const [root, path] = this.#root(reference);
    if (path.length === 0) {
      if (!isHash(value)) throw new FieldError("metadata is a hash");
      this.metadata = value;
      return;
    }
    if (root === this.data && path[0] === "tags") checkTags(path, value);
    if (root === this.data && path.join() === "@timestamp" && !(value instanceof Time))
      throw new FieldError("@timestamp is a time");
    let at: Value = root;
    for (const name of path.slice(0, -1)) {
      let next: Value | undefined = member(at, name);
      if (next === undefined || next === null) {
        next = new Map();
        put(at, name, next);
      }
      at = next;
    }
    put(at, path.at(-1)!, value);
  }

  remove(reference: string): Value | undefined {
    const [root, path] = this.#root(reference);
    if (path.length === 0) {
      const before = this.metadata;
      this.metadata = new Map();
      return before;
    }
    let at: Value | undefined = root;
    for (const name of path.slice(0, -1)) at = at === undefined ? undefined : member(at, name);
    const last = path.at(-1)!;
    const value = at === undefined ? undefined : member(at, last);
    if (isHash(at)) at.delete(last);
    else if (Array.isArray(at) && value !== undefined) at.splice(indexOf(at, last)!, 1);
    return value;
  }

  /** Adds a tag that it hasn't yet. */
  tag(name: string): void {
    const tags = this.data.get("tags");
    const before = tags === undefined || tags === null ? [] : Array.isArray(tags) ? tags : [tags];
    if (!before.includes(name)) this.data.set("tags", [...before, name]);
  }

  get time(): Time {
    return this.data.get("@timestamp") as Time;
  }

  clone(): PlainEvent {
    return new PlainEvent(copyOf(this.data) as Hash, copyOf(this.metadata) as Hash);
  }

  /** The event with `@metadata`. */
  toJson(): string {
    return jsonOf(new Map([...this.data, ["@metadata", this.metadata]]));
  }

  #root(reference: string): [Hash, string[]] {
    const path = pathOf(reference);
    return path[0] === "@metadata" ? [this.metadata, path.slice(1)] : [this.data, path];
  }
}

export function referenceTo(path: readonly string[]): string {
  return path.map((name) => `[${name}]`).join("");
}

function checkTags(path: readonly string[], value: Value): void {
  const isLegal =
    value === null ||
    typeof value === "string" ||
    (Array.isArray(value) && value.every((each) => typeof each === "string"));
  if (path.length > 1 || !isLegal) throw new FieldError("tags are texts");
}

function indexOf(list: readonly Value[], name: string): number | undefined {
  if (!/^-?[0-9]+$/.test(name)) return undefined;
  const index = Number(name);
  return index < 0 ? list.length + index : index;
}

function member(at: Value, name: string): Value | undefined {
  if (isHash(at)) return at.get(name);
  const index = Array.isArray(at) ? indexOf(at, name) : undefined;
  return index === undefined ? undefined : (at as Value[])[index];
}

function put(at: Value, name: string, value: Value): void {
  if (isHash(at)) {
    at.set(name, value);
    return;
  }
  if (!Array.isArray(at)) throw new FieldError(`${name} can't be set in a plain value`);
  const index = indexOf(at, name);
  if (index === undefined || index < 0) throw new FieldError(`${name} isn't an index`);
  while (at.length < index) at.push(null);
  at[index] = value;
}
