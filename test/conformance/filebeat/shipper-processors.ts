/** The shipper's own processors, as far as configurations of modules use them. */

import { runInNewContext } from "node:vm";

type Json = Readonly<Record<string, unknown>>;
type Event = Record<string, unknown>;

/** Time zone of the shipper that made the expected documents. */
const TIME_ZONE = "-02:00";

/** Scripts of configurations are short. */
const SCRIPT_MS = 1_000;

type Processor = (event: Event, options: Json) => Event | undefined;

const PROCESSORS: Readonly<Record<string, Processor>> = {
  add_locale: (event) => put(event, "event.timezone", TIME_ZONE),
  add_fields: addFields,
  add_tags: addTags,
  copy_fields: (event, options) => moved(event, options, false),
  rename: (event, options) => moved(event, options, true),
  decode_json_fields: decodeJson,
  drop_event: () => undefined,
  drop_fields: dropFields,
  detect_mime_type: detectMimeType,
  script: runScript,
};

/** Applies processors; undefined: the event was dropped. Throws an Error for those that aren't known here. */
export function processed(processors: readonly Json[], event: Event): Event | undefined {
  let at: Event | undefined = event;
  for (const processor of processors) {
    if (at === undefined) return undefined;
    at = applied(processor, at);
  }
  return at;
}

function applied(processor: Json, event: Event): Event | undefined {
  if ("if" in processor) {
    const branch = processor[isTrue(processor["if"] as Json, event) ? "then" : "else"] ?? [];
    return processed([branch].flat() as Json[], event);
  }
  for (const [written, given] of Object.entries(processor)) {
    // `a.b.c: d` stands for {a: {b: {c: d}}}.
    const [name = "", ...path] = written.split(".");
    const options = path.reduceRight<unknown>((inner, key) => ({ [key]: inner }), given) as Json | null;
    const work = PROCESSORS[name];
    if (work === undefined) throw new Error(`the processor isn't known here: ${name}`);
    const when = options?.["when"] as Json | undefined;
    return when === undefined || isTrue(when, event) ? work(event, options ?? {}) : event;
  }
  return event;
}

function isTrue(condition: Json, event: Event): boolean {
  return Object.entries(condition).every(([written, given]) => {
    const [kind = "", ...path] = written.split(".");
    const operand = path.length === 0 ? given : { [path.join(".")]: given };
    switch (kind) {
      case "not":
        return !isTrue(nested(path, given), event);
      case "and":
        return (given as Json[]).every((each) => isTrue(each, event));
      case "or":
        return (given as Json[]).some((each) => isTrue(each, event));
      case "has_fields":
        return (given as string[]).every((field) => get(event, field) !== undefined);
      case "regexp":
        return members(operand).every(([field, text]) => new RegExp(text).test(textAt(event, field)));
      case "contains":
        return members(operand).every(([field, text]) => textAt(event, field).includes(text));
      case "equals":
        return members(operand).every(([field, text]) => String(get(event, field)) === text);
      default:
        throw new Error(`the condition isn't known here: ${kind}`);
    }
  });
}

/** What is behind `not`: {a: {b: c}} of the path a.b. */
function nested(path: readonly string[], given: unknown): Json {
  if (path.length === 0) return given as Json;
  const [kind = "", ...field] = path;
  return { [kind]: field.length === 0 ? given : { [field.join(".")]: given } };
}

function members(operand: unknown): [string, string][] {
  return Object.entries(operand as Json).map(([field, value]) => [field, String(value)]);
}

/** Where a path leads to; a key of the map may hold the dots itself. */
function holderOf(event: unknown, path: string): [Event, string] | undefined {
  if (typeof event !== "object" || event === null) return undefined;
  if (Object.hasOwn(event, path)) return [event as Event, path];
  const dot = path.indexOf(".");
  return dot < 0 ? undefined : holderOf((event as Event)[path.slice(0, dot)], path.slice(dot + 1));
}

function get(event: Event, path: string): unknown {
  const [holder, key] = holderOf(event, path) ?? [];
  return holder?.[key!];
}

function textAt(event: Event, path: string): string {
  const value = get(event, path);
  return typeof value === "string" ? value : "";
}

function put(event: Event, path: string, value: unknown): Event {
  const keys = path.split(".");
  let at = event;
  for (const key of keys.slice(0, -1)) at = (at[key] ??= {}) as Event;
  at[keys.at(-1)!] = value;
  return event;
}

function remove(event: Event, path: string): void {
  const [holder, key] = holderOf(event, path) ?? [];
  if (holder !== undefined) delete holder[key!];
}

function addFields(event: Event, { target = "fields", fields }: Json): Event {
  const prefix = target === "" ? "" : `${String(target)}.`;
  for (const [path, value] of Object.entries((fields ?? {}) as Json)) put(event, prefix + path, value);
  return event;
}

function addTags(event: Event, { tags, target = "tags" }: Json): Event {
  const before = get(event, String(target));
  return put(event, String(target), [
    ...(Array.isArray(before) ? (before as unknown[]) : []),
    ...(tags as unknown[]),
  ]);
}

function moved(event: Event, { fields }: Json, removes: boolean): Event {
  for (const { from, to } of fields as { from: string; to: string }[]) {
    const value = get(event, from);
    if (value === undefined) continue;
    if (removes) remove(event, from);
    put(event, to, value);
  }
  return event;
}

function decodeJson(event: Event, { fields, target, overwrite_keys: overwrites = false }: Json): Event {
  for (const field of fields as string[]) {
    let value: unknown;
    try {
      value = JSON.parse(String(get(event, field)));
    } catch {
      continue;
    }
    if (target === undefined) put(event, field, value);
    else if (target !== "") put(event, target as string, value);
    else
      for (const [key, each] of Object.entries(value as Json))
        if (overwrites || !(key in event)) event[key] = each;
  }
  return event;
}

function dropFields(event: Event, { fields }: Json): Event {
  for (const field of fields as string[]) remove(event, field);
  return event;
}

function detectMimeType(event: Event, { field, target }: Json): Event {
  const text = get(event, String(field));
  if (typeof text !== "string" || text === "") return event;
  let type = "text/plain; charset=utf-8";
  try {
    if (typeof JSON.parse(text) === "object") type = "application/json";
  } catch {}
  return put(event, String(target), type);
}

/** Runs the script of a configuration, which comes with the module that is tested. */
function runScript(event: Event, { source }: Json): Event {
  if (typeof source !== "string") throw new Error("a script in a file isn't known here");
  const given = {
    Get: (path: string) => get(event, path) ?? null,
    Put: (path: string, value: unknown) => put(event, path, value),
    Delete: (path: string) => remove(event, path),
    Tag: (tag: string) => addTags(event, { tags: [tag] }),
  };
  runInNewContext(`${source}\nprocess(event)`, { event: given }, { timeout: SCRIPT_MS });
  return event;
}
