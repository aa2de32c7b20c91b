/** Processors that set and move fields, and those that work on lists. */

import { Decimal, isRawNumber } from "#hub/scripts/values/values.ts";
import { copyValue, isHash, valueText } from "#proto/event.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { convert } from "./convert-processor.ts";
import { type IngestDocument, ProcessorFault, typeNameOf } from "./ingest-document.ts";
import { type ProcessorKind, type ProcessorSettings, readField } from "./processor.ts";
import { remove } from "./remove-processor.ts";
import { compileValue, ESCAPES, type Escape } from "./template.ts";

const set: ProcessorKind = (settings) => {
  const field = settings.template("field");
  const ignoresEmpty = settings.flag("ignore_empty_value");
  const make = takeSource(settings, ignoresEmpty);
  const override = settings.flag("override", true);
  return (document) => {
    const path = field(document);
    const before = override ? undefined : document.get(path);
    if (before !== undefined && before !== null) return;
    const value = make(document);
    if (!ignoresEmpty || !isEmpty(value)) document.set(path, value);
  };
};

/** Takes what `set` sets: a value, or a copy of another field, which must be there unless `ignoresEmpty`. */
function takeSource(
  settings: ProcessorSettings,
  ignoresEmpty: boolean,
): (document: IngestDocument) => unknown {
  const from = settings.optionalText("copy_from");
  const value = settings.take("value");
  const write = takeEscape(settings);
  if (from === undefined) {
    if (value === undefined) throw settings.fault("value", "required property is missing");
    return compileValue(value, write);
  }
  if (value !== undefined)
    throw settings.fault("copy_from", "cannot set both `copy_from` and `value` in the same processor");
  return (document) => copyValue(ignoresEmpty ? document.get(from) : document.require(from));
}

/** Takes how fields are written in templates of a value. */
function takeEscape(settings: ProcessorSettings): Escape {
  const type = settings.text("media_type", "application/json");
  const found = ESCAPES[type.replace(/\s*;.*$/, "")];
  if (found !== undefined) return found;
  throw settings.fault("media_type", `property does not contain a supported media type [${type}]`);
}

/** Null and texts without characters are empty. */
function isEmpty(value: unknown): boolean {
  return value === undefined || value === null || value === "";
}

const rename: ProcessorKind = (settings) => {
  const field = settings.template("field");
  const target = settings.template("target_field");
  const ignoreMissing = settings.flag("ignore_missing");
  const overrides = settings.flag("override");
  return (document) => {
    const [from, to] = [field(document), target(document)];
    // A template may render to nothing.
    if (ignoreMissing && from === "") return;
    if (!document.has(from)) {
      if (ignoreMissing) return;
      throw new ProcessorFault(`field [${from}] doesn't exist`);
    }
    if (document.has(to) && !overrides) throw new ProcessorFault(`field [${to}] already exists`);
    const value = document.remove(from);
    try {
      document.set(to, value);
    } catch (error) {
      document.set(from, value);
      throw error;
    }
  };
};

const append: ProcessorKind = (settings) => {
  const field = settings.template("field");
  const value = settings.take("value");
  if (value === undefined) throw settings.fault("value", "required property is missing");
  const make = compileValue(Array.isArray(value) ? value : [value], takeEscape(settings));
  const allowsDuplicates = settings.flag("allow_duplicates", true);
  return (document) => {
    const path = field(document);
    const before = document.get(path);
    const list = before === undefined ? [] : Array.isArray(before) ? before : [before];
    const added = make(document) as unknown[];
    const taken = allowsDuplicates ? added : [...new Set(added)].filter((each) => !list.includes(each));
    if (allowsDuplicates || taken.length > 0) document.set(path, [...(list as unknown[]), ...taken]);
  };
};

const sort: ProcessorKind = (settings) => {
  const field = settings.text("field");
  const target = settings.text("target_field", field);
  const order = settings.text("order", "asc");
  if (order !== "asc" && order !== "desc")
    throw settings.fault("order", `Sort direction [${order}] not recognized. Valid values are: [asc, desc]`);
  return (document) => {
    const value = readField(document, { field, target, ignoreMissing: false });
    if (!Array.isArray(value)) throw notAList(field, value);
    checkComparable(value);
    const sorted = value.toSorted(compareItems);
    document.set(target, order === "asc" ? sorted : sorted.reverse());
  };
};

/** Throws ProcessorFault for a list of values that have no order: objects, or texts beside numbers. */
function checkComparable(list: readonly unknown[]): void {
  if (list.length < 2) return;
  const kinds = new Set(list.map((item) => (item === null ? "null" : typeof comparable(item))));
  if (kinds.delete("bigint")) kinds.add("number");
  if (kinds.size === 1 && !kinds.has("object")) return;
  const names = [...new Set(list.map(typeNameOf))];
  throw new ProcessorFault(`class ${names[0]} cannot be cast to class ${names[1] ?? "java.lang.Comparable"}`);
}

function compareItems(left: unknown, right: unknown): number {
  const [a, b] = [comparable(left) as string, comparable(right) as string];
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Returns a number of any kind as one that JavaScript compares by value; other items as they are. */
function comparable(item: unknown): unknown {
  if (item instanceof Decimal) return item.value;
  return isRawNumber(item) ? BigInt(item.rawJSON) : item;
}

/** Runs a processor on each item of a list, which it sees as `_ingest._value`. */
const foreach: ProcessorKind = (settings, context) => {
  const field = settings.text("field");
  const work = context.compile(settings.take("processor"));
  const ignoreMissing = settings.flag("ignore_missing");
  return (document) => {
    const value = readField(document, { field, target: field, ignoreMissing });
    if (value === undefined) return;
    if (isHash(value)) {
      document.set(field, eachMember(document, value, work));
      return;
    }
    if (!Array.isArray(value)) throw notAList(field, value);
    const list = value as unknown[];
    document.set(
      field,
      list.map((item) => eachItem(document, item, work)),
    );
  };
};

/** Runs the processor on each member of an object; its key is `_ingest._key`, which may be changed. */
function eachMember(
  document: IngestDocument,
  value: JsonObject,
  work: (document: IngestDocument) => void,
): JsonObject {
  const before = document.ingest["_key"];
  const members: [string, unknown][] = [];
  try {
    for (const [key, item] of Object.entries(value)) {
      document.ingest["_key"] = key;
      const changed = eachItem(document, item, work);
      members.push([valueText(document.ingest["_key"]), changed]);
    }
  } finally {
    if (before === undefined) delete document.ingest["_key"];
    else document.ingest["_key"] = before;
  }
  return Object.fromEntries(members);
}

function eachItem(
  document: IngestDocument,
  item: unknown,
  work: (document: IngestDocument) => void,
): unknown {
  // A null stays behind, as with the original.
  const before = document.ingest["_value"] ?? null;
  document.ingest["_value"] = copyValue(item);
  try {
    work(document);
    return document.ingest["_value"];
  } finally {
    document.ingest["_value"] = before;
  }
}

const dotExpander: ProcessorKind = (settings) => {
  const field = settings.text("field");
  const path = settings.optionalText("path");
  const overrides = settings.flag("override");
  if (field !== "*" && !/^[^.]+(\.[^.]+)+$/.test(field))
    throw settings.fault("field", "field does not contain a dot and is not a wildcard");
  return (document) => {
    const holder = path === undefined ? document.source : (document.get(path) ?? {});
    if (!isHash(holder))
      throw new ProcessorFault(
        `field [${path}] of type [${typeNameOf(holder)}] cannot be cast to [java.util.Map]`,
      );
    const names = field === "*" ? Object.keys(holder).filter((name) => /[^.]\.[^.]/.test(name)) : [field];
    for (const name of names) {
      // A field that is missing becomes null, as with the original.
      const value = Object.hasOwn(holder, name) ? holder[name] : null;
      const full = path === undefined ? name : `${path}.${name}`;
      const before = document.get(full);
      if (before === undefined) {
        checkParents(holder, name, full);
        delete holder[name];
        document.set(full, value);
        continue;
      }
      delete holder[name];
      const list = Array.isArray(before) ? before : [before];
      document.set(full, overrides ? value : [...(list as unknown[]), value]);
    }
  };
};

/** Throws ProcessorFault if a plain value in `holder` is in the way of the field `name`, whose whole path is `full`. */
function checkParents(holder: JsonObject, name: string, full: string): void {
  let at = holder;
  let end = full.length - name.length;
  for (const key of name.split(".").slice(0, -1)) {
    end += key.length;
    if (!Object.hasOwn(at, key)) return;
    const next = at[key];
    if (!isHash(next))
      throw new ProcessorFault(
        `cannot expend [${full}], because [${full.slice(0, end)}] is not an object field, but a value field`,
      );
    at = next;
    end++;
  }
}

export const FIELD_PROCESSORS: Readonly<Record<string, ProcessorKind>> = {
  set,
  remove,
  rename,
  append,
  convert,
  sort,
  foreach,
  dot_expander: dotExpander,
};

function notAList(field: string, value: unknown): ProcessorFault {
  return new ProcessorFault(
    `field [${field}] of type [${typeNameOf(value)}] cannot be cast to [java.util.List]`,
  );
}
