/** Codec cef: events of security devices in ArcSight's Common Event Format. */

import type { Static } from "typebox";
import { cefName, cefNameOfEcs } from "#hub/pipeline/formats/cef-names.ts";
import { type DateParser, dateParser } from "#hub/pipeline/formats/date-parser.ts";
import { type Codec, defineCodec } from "#hub/pipeline/plugins/codec.ts";
import { decodeText } from "#proto/codec/plain.ts";
import { Event, Timestamp, valueText } from "#proto/event.ts";
import { bracketed, fieldReference } from "#proto/field-reference.ts";
import { compileFormat, type Format } from "#proto/format.ts";
import { findTimeZone, UTC } from "#proto/kit/dates/time-zone.ts";
import { flag, list, oneOf, optional, options, text } from "#proto/kit/options.ts";
import { splitPayload } from "./line.ts";

const FAILURE_TAG = "_cefparsefailure";

/** Fields of the header by both schemas, in their order. */
const HEADER = [
  ["cefVersion", "[cef][version]"],
  ["deviceVendor", "[observer][vendor]"],
  ["deviceProduct", "[observer][product]"],
  ["deviceVersion", "[observer][version]"],
  ["deviceEventClassId", "[event][code]"],
  ["name", "[cef][name]"],
  ["severity", "[event][severity]"],
] as const;

/** A key of the extensions: after a blank or at the start, before an equals sign that isn't escaped. */
const KEY = /(?:^|\s)([\w.,-]+(?:\[[^\]\s]+\])?)=/g;

/** Field of the zone that times without one are in. */
const ZONE_FIELD = "[event][timezone]";

/** Fields of the device, where it is the host that an event is about. */
const OF_HOST: Readonly<Record<string, string>> = {
  "[observer][hostname]": "[host][name]",
  "[observer][ip]": "[host][ip]",
  "[observer][mac]": "[host][mac]",
  "[observer][name]": "[host][id]",
  "[observer][registered_domain]": "[host][registered_domain]",
};

/** Written where the format of a field of the header gives nothing. */
const DEFAULTS = {
  vendor: "Elasticsearch",
  product: "Logstash",
  version: "1.0",
  signature: "Logstash",
  name: "Logstash",
  severity: "6",
};

const OPTIONS = options({
  vendor: text("vendor of written events, a format", DEFAULTS.vendor),
  product: text("product of written events, a format", DEFAULTS.product),
  version: text("version of written events, a format", DEFAULTS.version),
  signature: text("signature of written events, a format", DEFAULTS.signature),
  name: text("name of written events, a format", DEFAULTS.name),
  severity: text("severity of written events, 0 to 10, a format", DEFAULTS.severity),
  fields: list("fields that are written"),
  reverse_mapping: flag("writes the short names of known fields", false),
  delimiter: optional(
    text("delimiter of events, \\r and \\n are line ends; without it each payload is one event"),
  ),
  default_timezone: optional(text("with ECS, zone of times that name none; default: that of this process")),
  locale: optional(text("with ECS, language of the names of months; default: English")),
  raw_data_field: optional(text("target field for the original text")),
  device: oneOf(["observer", "host"], "with ECS, name of the device", "observer"),
  ecs_compatibility: oneOf(
    ["disabled", "v1", "v8"],
    "v1 and v8 name fields by the Elastic Common Schema",
    "disabled",
  ),
});

type Values = Static<typeof OPTIONS>;

export const cefCodec = defineCodec({
  name: "cef",
  description: "ArcSight's Common Event Format, with or without a syslog head",
  options: OPTIONS,
  create: (values) => new CefCodec(values),
});

class CefCodec implements Codec {
  readonly #values: Values;
  readonly #ecs: boolean;
  readonly #delimiter: string | undefined;
  readonly #head: readonly { readonly format: Format; readonly fallback: string }[];
  readonly #timeOf: (value: string, zone: string | undefined) => Timestamp | undefined;

  constructor(values: Values) {
    this.#values = values;
    this.#ecs = values.ecs_compatibility !== "disabled";
    // Texts of pipelines have no escapes, so a delimiter is written as \r\n.
    this.#delimiter = values.delimiter?.replaceAll("\\r", "\r").replaceAll("\\n", "\n");
    this.#head = (["vendor", "product", "version", "signature", "name", "severity"] as const).map((name) => ({
      format: compileFormat(values[name]),
      fallback: DEFAULTS[name],
    }));
    this.#timeOf = times(values.default_timezone, values.locale);
  }

  decode(payload: Uint8Array, timeMs: number): Event[] {
    const delimiter = this.#delimiter;
    const parts = delimiter === undefined ? [payload] : splitPayload(payload, delimiter);
    return parts.map((part) => this.#event(decodeText(part).replace(/(?<![\r\n])[\r\n]+$/, ""), timeMs));
  }

  encode(event: Event): Uint8Array {
    const header = this.#head.map(({ format, fallback }) => escapeHeader(format(event)) || fallback);
    const severity = header.at(-1)!.trim();
    header[header.length - 1] = isSeverity(severity) ? String(Number(severity)) : DEFAULTS.severity;
    const extensions = this.#values.fields.flatMap((name) => {
      const value = event.get(fieldReference(name));
      if (value === undefined || value === null) return [];
      return [
        `${this.#keyOf(name)}=${escapeValue(Array.isArray(value) ? JSON.stringify(value) : valueText(value))}`,
      ];
    });
    return Buffer.from(`CEF:0|${header.join("|")}|${extensions.join(" ")}${this.#delimiter ?? ""}`);
  }

  /** A field of the Elastic Common Schema has a name of CEF; of others the letters and digits are left. */
  #keyOf(field: string): string {
    const known = (this.#ecs ? cefNameOfEcs(bracketed(field)) : undefined) ?? cefName(field);
    const key = known === undefined ? field : this.#values.reverse_mapping ? known.short : known.long;
    return key.replace(/[^a-zA-Z0-9]/g, "");
  }

  #event(line: string, timeMs: number): Event {
    let event = new Event({}, timeMs);
    if (!this.#isRead(event, line)) {
      event = new Event({ message: line }, timeMs);
      event.tag(FAILURE_TAG);
    }
    const { raw_data_field: raw } = this.#values;
    if (raw !== undefined) event.set(fieldReference(raw), line);
    return event;
  }

  /** Returns false also where keys aren't names of fields, or are in each other's way. */
  #isRead(event: Event, line: string): boolean {
    try {
      return this.#read(event, line.startsWith('"') ? line.slice(1, -1) : line);
    } catch {
      return false;
    }
  }

  #read(event: Event, line: string): boolean {
    const start = line.search(/\bCEF:\s?\d/);
    // A line end within is written \n: several lines are several events, which only a delimiter can part.
    if (start < 0 || line.includes("\n")) return false;
    const parts = splitHeader(line.slice(start + 4));
    const extensions = parts === undefined ? undefined : extensionsOf(parts.extensions);
    if (parts === undefined || extensions === undefined) return false;
    for (const [index, [legacy, path]] of HEADER.entries())
      event.set(fieldReference(this.#ecs ? path : legacy), parts.header[index]!.trim());
    const syslog = line.slice(0, start).trim();
    if (syslog !== "") event.set(fieldReference(this.#ecs ? "[log][syslog][header]" : "syslog"), syslog);
    const zone = extensions.find(([key]) => cefName(key)?.ecs === ZONE_FIELD)?.[1];
    for (const [key, value] of extensions) if (value !== "") this.#setExtension(event, key, value, zone);
    return true;
  }

  #setExtension(event: Event, key: string, value: string, zone: string | undefined): void {
    const known = cefName(key);
    const path = known === undefined ? itemPath(key) : this.#ecs ? this.#observed(known.ecs) : known.long;
    event.set(fieldReference(path), this.#ecs ? this.#converted(value, known?.kind, zone) : value);
  }

  #converted(value: string, kind: "int" | "time" | undefined, zone: string | undefined): unknown {
    if (kind === "time") return this.#timeOf(value, zone) ?? value;
    return kind === "int" && /^-?\d{1,15}$/.test(value) ? Number(value) : value;
  }

  #observed(path: string): string {
    return this.#values.device === "host" ? (OF_HOST[path] ?? path) : path;
  }
}

/** A list comes as key[0], key[1]. */
function itemPath(key: string): string {
  const item = /^(.*?)\[(\d+)\]$/.exec(key);
  return item === null ? key : `[${item[1]}][${item[2]}]`;
}

/** Seven fields between bars; \| and \\ stand for themselves. Undefined where there are fewer. */
function splitHeader(text: string): { header: string[]; extensions: string } | undefined {
  const header: string[] = [];
  let part = "";
  for (let at = 0; at < text.length; at++) {
    const character = text[at]!;
    if (character === "\\" && (text[at + 1] === "|" || text[at + 1] === "\\")) part += text[++at];
    else if (character !== "|") part += character;
    else {
      header.push(part);
      part = "";
      if (header.length === HEADER.length) return { header, extensions: text.slice(at + 1) };
    }
  }
  // The last bar may be missing where there are no extensions.
  if (header.length === HEADER.length - 1) return { header: [...header, part], extensions: "" };
  return undefined;
}

/** Values run up to the next key, blanks included. Undefined where there is text before the first key. */
function extensionsOf(text: string): [string, string][] | undefined {
  const keys = [...text.matchAll(KEY)];
  if (text.slice(0, keys[0]?.index).trim() !== "") return undefined;
  return keys.map((found, index) => {
    const start = found.index + found[0].length;
    const end = keys[index + 1]?.index ?? text.length;
    const value = text
      .slice(start, end)
      .replace(/\\([=\\nr])/g, (_whole, escaped: string) => UNESCAPED[escaped] ?? escaped);
    return [found[1]!, value.trimEnd()];
  });
}

const UNESCAPED: Readonly<Record<string, string>> = { n: "\n", r: "\r" };

/** Returns a reader of times: ms since 1970, or a date as CEF allows it, in `zone` if the text names none. */
function times(defaultZone: string | undefined, locale = "en") {
  const parsers: DateParser[] = [];
  for (const date of ["MMM dd yyyy", "MMM dd"])
    for (const time of ["HH:mm:ss", "HH:mm:ss.SSS"])
      for (const end of ["", " ZZZ", " Z"])
        parsers.push(dateParser(`${date} ${time}${end}`, locale.replace("_", "-")));
  parsers.push(dateParser("ISO8601", "en"));
  const fallback = findTimeZone(defaultZone ?? Intl.DateTimeFormat().resolvedOptions().timeZone) ?? UTC;
  return (value: string, zone: string | undefined): Timestamp | undefined => {
    if (/^\d{12,14}$/.test(value)) return new Timestamp(Number(value));
    const inZone = (zone === undefined ? undefined : findTimeZone(zone)) ?? fallback;
    for (const parse of parsers) {
      const timeMs = parse(value, inZone, Date.now);
      if (timeMs !== undefined) return new Timestamp(timeMs);
    }
    return undefined;
  };
}

function isSeverity(value: string): boolean {
  const number = Number(value || Number.NaN);
  return Number.isInteger(number) && number >= 0 && number <= 10;
}

function escapeHeader(value: string): string {
  return value.replace(/[\r\n]+/g, " ").replace(/[\\|]/g, "\\$&");
}

function escapeValue(value: string): string {
  return value.replace(/[\\=]/g, "\\$&").replace(/\r\n|\r|\n/g, "\\n");
}
