/** Processors that set, move and convert fields. */

import { isIP } from "node:net";
import { parseJson } from "#proto/codec/json.ts";
import { copyValue, isHash, valueText } from "#proto/event.ts";
import { compileTemplate, compileValue, type IngestDocument, ProcessorFault } from "./ingest-document.ts";
import {
  fieldChange,
  type ProcessorKind,
  type ProcessorSettings,
  readField,
  typeNameOf,
} from "./processor.ts";

const set: ProcessorKind = (settings) => {
  const field = settings.template("field");
  const make = takeSource(settings);
  const override = settings.flag("override", true);
  const ignoresEmpty = settings.flag("ignore_empty_value");
  return (document) => {
    const path = field(document);
    const before = override ? undefined : document.get(path);
    if (before !== undefined && before !== null) return;
    const value = make(document);
    if (!ignoresEmpty || !isEmpty(value)) document.set(path, value);
  };
};

/** Takes what `set` sets: a value, or a copy of another field. */
function takeSource(settings: ProcessorSettings): (document: IngestDocument) => unknown {
  const from = settings.optionalText("copy_from");
  const value = settings.take("value");
  if (from === undefined) {
    if (value === undefined) throw settings.fault("value", "required property is missing");
    return compileValue(value);
  }
  if (value !== undefined)
    throw settings.fault("copy_from", "cannot set both `copy_from` and `value` in the same processor");
  return (document) => copyValue(document.get(from) ?? null);
}

/** Null and texts without characters are empty. */
function isEmpty(value: unknown): boolean {
  return value === undefined || value === null || value === "";
}

const remove: ProcessorKind = (settings) => {
  const fields = settings.texts("field").map(compileTemplate);
  const ignoreMissing = settings.flag("ignore_missing");
  return (document) => {
    for (const field of fields) {
      const path = field(document);
      if (!ignoreMissing || document.has(path)) document.remove(path);
    }
  };
};

const rename: ProcessorKind = (settings) => {
  const field = settings.template("field");
  const target = settings.template("target_field");
  const ignoreMissing = settings.flag("ignore_missing");
  return (document) => {
    const [from, to] = [field(document), target(document)];
    if (!document.has(from)) {
      if (ignoreMissing) return;
      throw new ProcessorFault(`field [${from}] doesn't exist`);
    }
    if (document.has(to)) throw new ProcessorFault(`field [${to}] already exists`);
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
  const make = compileValue(Array.isArray(value) ? value : [value]);
  const allowsDuplicates = settings.flag("allow_duplicates", true);
  return (document) => {
    const path = field(document);
    const before = document.get(path);
    const list = before === undefined || before === null ? [] : Array.isArray(before) ? before : [before];
    const added = make(document) as unknown[];
    const joined = [...(list as unknown[]), ...added];
    if (allowsDuplicates) document.set(path, joined);
    else if (added.some((each) => !list.includes(each))) document.set(path, [...new Set(joined)]);
  };
};

type Conversion = (value: unknown) => unknown;

const CONVERSIONS: Readonly<Record<string, Conversion>> = {
  integer: (value) => integer(value, 31),
  long: (value) => integer(value, 63),
  float: (value) => float(value),
  double: (value) => float(value),
  string: valueText,
  boolean: toBoolean,
  ip: (value) => {
    const text = valueText(value);
    if (isIP(text) !== 0) return text;
    throw new ProcessorFault(`'${text}' is not an IP string literal.`);
  },
  auto: (value) => {
    if (typeof value !== "string") return value;
    for (const convert of [toBoolean, (text: unknown) => integer(text, 63), float]) {
      try {
        return convert(value);
      } catch {}
    }
    return value;
  },
};

const convert: ProcessorKind = (settings) => {
  const change = fieldChange(settings);
  const type = settings.text("type");
  const conversion = CONVERSIONS[type];
  if (conversion === undefined)
    throw settings.fault("type", `type [${type}] not supported, cannot convert field.`);
  return (document) => {
    const value = readField(document, change);
    if (value === undefined) return;
    document.set(change.target, Array.isArray(value) ? value.map(conversion) : conversion(value));
  };
};

const json: ProcessorKind = (settings) => {
  const field = settings.text("field");
  const target = settings.optionalText("target_field");
  const addsToRoot = settings.flag("add_to_root");
  if (addsToRoot && target !== undefined)
    throw settings.fault(
      "target_field",
      "Cannot set a target field while also setting `add_to_root` to true",
    );
  return (document) => {
    const given = document.get(field);
    const value = given === null ? null : readField(document, { field, target: field, ignoreMissing: false });
    const parsed = typeof value === "string" ? parseJson(value) : value;
    if (parsed === undefined) throw new ProcessorFault(`field [${field}] holds no JSON`);
    if (!addsToRoot) document.set(target ?? field, parsed);
    else if (isHash(parsed)) Object.assign(document.source, parsed);
    else throw new ProcessorFault("cannot add non-map fields to root of document");
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
    const sorted = (value as (string | number)[]).toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0));
    document.set(target, order === "asc" ? sorted : sorted.reverse());
  };
};

/** Runs a processor on each item of a list, which it sees as `_ingest._value`. */
const foreach: ProcessorKind = (settings, context) => {
  const field = settings.text("field");
  const work = context.compile(settings.take("processor"));
  const ignoreMissing = settings.flag("ignore_missing");
  return (document) => {
    const value = readField(document, { field, target: field, ignoreMissing });
    if (value === undefined) return;
    if (!Array.isArray(value)) throw notAList(field, value);
    const list = value as unknown[];
    document.set(
      field,
      list.map((item) => eachItem(document, item, work)),
    );
  };
};

function eachItem(
  document: IngestDocument,
  item: unknown,
  work: (document: IngestDocument) => void,
): unknown {
  const before = document.ingest["_value"];
  document.ingest["_value"] = copyValue(item);
  try {
    work(document);
    return document.ingest["_value"];
  } finally {
    if (before === undefined) delete document.ingest["_value"];
    else document.ingest["_value"] = before;
  }
}

const dotExpander: ProcessorKind = (settings) => {
  const field = settings.text("field");
  const path = settings.optionalText("path");
  if (!/^[^.]+(\.[^.]+)+$/.test(field)) throw settings.fault("field", "field does not contain a dot");
  return (document) => {
    const holder = path === undefined ? document.source : document.get(path);
    if (!isHash(holder) || !Object.hasOwn(holder, field)) return;
    const value = holder[field];
    const full = path === undefined ? field : `${path}.${field}`;
    const before = document.get(full);
    delete holder[field];
    const list = before === undefined ? undefined : Array.isArray(before) ? before : [before];
    document.set(full, list === undefined ? value : [...(list as unknown[]), value]);
  };
};

export const FIELD_PROCESSORS: Readonly<Record<string, ProcessorKind>> = {
  set,
  remove,
  rename,
  append,
  convert,
  json,
  sort,
  foreach,
  dot_expander: dotExpander,
};

/** What a double can't hold keeps its digits. */
function integer(value: unknown, bits: number): unknown {
  const text = valueText(value).trim();
  const found = /^[-+]?(0[xX][0-9a-fA-F]+|\d+)$/.test(text) ? BigInt(text.replace(/^[-+]/, "")) : undefined;
  const signed = found !== undefined && text.startsWith("-") ? -found : found;
  const limit = 2n ** BigInt(bits);
  if (signed === undefined || signed >= limit || signed < -limit)
    throw new ProcessorFault(`unable to convert [${text}] to ${bits === 31 ? "integer" : "long"}`);
  const number = Number(signed);
  return Number.isSafeInteger(number) ? number : parseJson(String(signed));
}

function float(value: unknown): number {
  const text = valueText(value).trim();
  const number = text === "" ? Number.NaN : Number(text);
  if (!Number.isFinite(number)) throw new ProcessorFault(`unable to convert [${text}] to float`);
  return number;
}

function toBoolean(value: unknown): boolean {
  const text = valueText(value).toLowerCase();
  if (text === "true" || text === "false") return text === "true";
  throw new ProcessorFault(`[${valueText(value)}] is not a boolean value, cannot convert to boolean`);
}

function notAList(field: string, value: unknown): ProcessorFault {
  return new ProcessorFault(
    `field [${field}] of type [${typeNameOf(value)}] cannot be cast to [java.util.List]`,
  );
}
