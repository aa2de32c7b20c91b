/** A document with what field paths of ingest pipelines reach. */

export type Json = null | boolean | number | string | Json[] | { [name: string]: Json };
export type Fields = { [name: string]: Json };

/** A processor fails. */
export class Failed extends Error {}
/** What the documentation doesn't say: the document isn't compared. */
export class Unspecified extends Error {}

export function isObject(value: unknown): value is Fields {
  return value !== null && typeof value === "object" && !Array.isArray(value);
}

export class PlainDocument {
  readonly source: Fields;
  /** Of `foreach`: the item at hand. */
  item: Json = null;
  dropped = false;

  constructor(source: Fields) {
    this.source = source;
  }

  /** Throws Failed where there is no such field. */
  require(path: string): Json {
    const value = this.find(path);
    if (value === undefined) throw new Failed(`field ${path} not present`);
    return value;
  }

  find(path: string): Json | undefined {
    let at: Json | undefined = path.startsWith("_ingest._value") ? { "": this.item } : this.source;
    for (const name of namesOf(path)) at = at === undefined ? undefined : member(at, name);
    return at;
  }

  /** Makes objects on the way. Throws Failed where a value is in the way. */
  set(path: string, value: Json): void {
    if (path === "_ingest._value") {
      this.item = value;
      return;
    }
    const names = namesOf(path);
    let at: Json = path.startsWith("_ingest._value") ? { "": this.item } : this.source;
    for (const name of names.slice(0, -1)) {
      const next: Json | undefined = member(at, name);
      if (next === null) throw new Failed(`null on the way to ${path}`);
      if (next !== undefined) at = next;
      else {
        if (!isObject(at)) throw new Failed(`${name} can't be made`);
        at[name] = {};
        at = at[name];
      }
    }
    const last = names.at(-1)!;
    if (isObject(at)) at[last] = value;
    else if (Array.isArray(at) && /^[0-9]+$/.test(last) && Number(last) < at.length) at[Number(last)] = value;
    else throw new Failed(`${path} can't be set`);
  }

  /** Throws Failed where there is no such field. */
  remove(path: string): void {
    const names = namesOf(path);
    this.require(path);
    const parent = names.length === 1 ? this.source : this.require(names.slice(0, -1).join("."));
    if (Array.isArray(parent)) parent.splice(Number(names.at(-1)), 1);
    else delete (parent as Fields)[names.at(-1)!];
  }
}

function namesOf(path: string): string[] {
  return path.replace(/^_ingest\._value/, "").split(".");
}

function member(at: Json, name: string): Json | undefined {
  if (isObject(at)) return Object.hasOwn(at, name) ? at[name] : undefined;
  return Array.isArray(at) && /^[0-9]+$/.test(name) ? at[Number(name)] : undefined;
}
