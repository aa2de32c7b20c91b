/** Codec cef: events of security devices in ArcSight's Common Event Format. */

import { defineCodec } from "#hub/pipeline/plugins/codec.ts";
import { decodeText } from "#proto/codec/plain.ts";
import { Event, valueText } from "#proto/event.ts";
import { fieldReference } from "#proto/field-reference.ts";
import { compileFormat } from "#proto/format.ts";
import { flag, list, oneOf, optional, options, text, withoutEffect } from "#proto/kit/options.ts";
import { splitPayload } from "./line.ts";

type Row = readonly [short: string, long: string, ecs: string, type?: "int"];

const ROWS: readonly Row[] = [
  ["act", "deviceAction", "[event][action]"],
  ["app", "applicationProtocol", "[network][protocol]"],
  ["cat", "deviceEventCategory", "[cef][category]"],
  ["cnt", "baseEventCount", "[cef][base_event_count]", "int"],
  ["dhost", "destinationHostName", "[destination][domain]"],
  ["dmac", "destinationMacAddress", "[destination][mac]"],
  ["dntdom", "destinationNtDomain", "[destination][registered_domain]"],
  ["dpid", "destinationProcessId", "[destination][process][pid]", "int"],
  ["dpriv", "destinationUserPrivileges", "[destination][user][group][name]"],
  ["dproc", "destinationProcessName", "[destination][process][name]"],
  ["dpt", "destinationPort", "[destination][port]", "int"],
  ["dst", "destinationAddress", "[destination][ip]"],
  ["duid", "destinationUserId", "[destination][user][id]"],
  ["duser", "destinationUserName", "[destination][user][name]"],
  ["dvc", "deviceAddress", "[observer][ip]"],
  ["dvchost", "deviceHostName", "[observer][hostname]"],
  ["dvcmac", "deviceMacAddress", "[observer][mac]"],
  ["dvcpid", "deviceProcessId", "[process][pid]", "int"],
  ["deviceDirection", "deviceDirection", "[network][direction]"],
  ["deviceExternalId", "deviceExternalId", "[observer][name]"],
  ["deviceFacility", "deviceFacility", "[log][syslog][facility][code]"],
  ["deviceInboundInterface", "deviceInboundInterface", "[observer][ingress][interface][name]"],
  ["deviceOutboundInterface", "deviceOutboundInterface", "[observer][egress][interface][name]"],
  ["deviceProcessName", "deviceProcessName", "[process][name]"],
  ["dtz", "deviceTimeZone", "[event][timezone]"],
  ["end", "endTime", "[event][end]"],
  ["externalId", "externalId", "[event][id]"],
  ["fileCreateTime", "fileCreateTime", "[file][created]"],
  ["fileHash", "fileHash", "[file][hash]"],
  ["fileId", "fileId", "[file][inode]"],
  ["fileModificationTime", "fileModificationTime", "[file][mtime]"],
  ["filePath", "filePath", "[file][path]"],
  ["filePermission", "filePermission", "[file][group]"],
  ["fileType", "fileType", "[file][extension]"],
  ["fname", "fileName", "[file][name]"],
  ["fsize", "fileSize", "[file][size]", "int"],
  ["in", "bytesIn", "[source][bytes]", "int"],
  ["msg", "message", "[message]"],
  ["out", "bytesOut", "[destination][bytes]", "int"],
  ["outcome", "eventOutcome", "[event][outcome]"],
  ["proto", "transportProtocol", "[network][transport]"],
  ["reason", "reason", "[event][reason]"],
  ["request", "requestUrl", "[url][original]"],
  ["requestClientApplication", "requestClientApplication", "[user_agent][original]"],
  ["requestContext", "requestContext", "[http][request][referrer]"],
  ["requestCookies", "requestCookies", "[cef][request][cookies]"],
  ["requestMethod", "requestMethod", "[http][request][method]"],
  ["rt", "deviceReceiptTime", "[@timestamp]"],
  ["shost", "sourceHostName", "[source][domain]"],
  ["smac", "sourceMacAddress", "[source][mac]"],
  ["sntdom", "sourceNtDomain", "[source][registered_domain]"],
  ["sourceServiceName", "sourceServiceName", "[source][service][name]"],
  ["destinationServiceName", "destinationServiceName", "[destination][service][name]"],
  ["destinationTranslatedAddress", "destinationTranslatedAddress", "[destination][nat][ip]"],
  ["destinationTranslatedPort", "destinationTranslatedPort", "[destination][nat][port]", "int"],
  ["sourceTranslatedAddress", "sourceTranslatedAddress", "[source][nat][ip]"],
  ["sourceTranslatedPort", "sourceTranslatedPort", "[source][nat][port]", "int"],
  ["spid", "sourceProcessId", "[source][process][pid]", "int"],
  ["spriv", "sourceUserPrivileges", "[source][user][group][name]"],
  ["sproc", "sourceProcessName", "[source][process][name]"],
  ["spt", "sourcePort", "[source][port]", "int"],
  ["src", "sourceAddress", "[source][ip]"],
  ["start", "startTime", "[event][start]"],
  ["suid", "sourceUserId", "[source][user][id]"],
  ["suser", "sourceUserName", "[source][user][name]"],
  ["type", "type", "[cef][type]"],
  ["agt", "agentAddress", "[agent][ip]"],
  ["ahost", "agentHostName", "[agent][name]"],
  ["aid", "agentId", "[agent][id]"],
  ["amac", "agentMacAddress", "[agent][mac]"],
  ["art", "agentReceiptTime", "[event][created]"],
  ["at", "agentType", "[agent][type]"],
  ["atz", "agentTimeZone", "[cef][agent][timezone]"],
  ["av", "agentVersion", "[agent][version]"],
  ["dlat", "destinationGeoLatitude", "[destination][geo][location][lat]"],
  ["dlong", "destinationGeoLongitude", "[destination][geo][location][lon]"],
  ["slat", "sourceGeoLatitude", "[source][geo][location][lat]"],
  ["slong", "sourceGeoLongitude", "[source][geo][location][lon]"],
];

/** Extensions with a number in their name: cs1 → deviceCustomString1, cs1Label → deviceCustomString1Label. */
const NUMBERED: readonly (readonly [short: string, long: string, count: number])[] = [
  ["cs", "deviceCustomString", 15],
  ["cn", "deviceCustomNumber", 3],
  ["cfp", "deviceCustomFloatingPoint", 4],
  ["c6a", "deviceCustomIPv6Address", 4],
  ["flexString", "flexString", 2],
  ["flexNumber", "flexNumber", 2],
];

interface CefName {
  readonly long: string;
  readonly ecs: string;
  readonly isNumber: boolean;
}

function table(): Map<string, CefName> {
  const names = new Map<string, CefName>();
  for (const [short, long, ecs, type] of ROWS) names.set(short, { long, ecs, isNumber: type === "int" });
  for (const [short, long, count] of NUMBERED) {
    for (let number = 1; number <= count; number++) {
      for (const label of ["", "Label"]) {
        const full = `${long}${number}${label}`;
        const ecs = `[cef][${snake(long)}_${number}][${label === "" ? "value" : "label"}]`;
        names.set(`${short}${number}${label}`, { long: full, ecs, isNumber: false });
      }
    }
  }
  return names;
}

function snake(name: string): string {
  return name.replace(/IPv6/, "Ipv6").replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** Names by their short form. */
const CEF_NAMES: ReadonlyMap<string, CefName> = table();

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

export const cefCodec = defineCodec({
  name: "cef",
  description: "ArcSight's Common Event Format, with or without a syslog head",
  options: options({
    vendor: text("vendor of written events, a format", "Elasticsearch"),
    product: text("product of written events, a format", "Logstash"),
    version: text("version of written events, a format", "1.0"),
    signature: text("signature of written events, a format", "Logstash"),
    name: text("name of written events, a format", "Logstash"),
    severity: text("severity of written events, a format", "6"),
    fields: list("fields that are written"),
    reverse_mapping: flag("writes the short names of known fields", false),
    delimiter: optional(text("delimiter of events; without it each payload is one event")),
    default_timezone: withoutEffect("times without a zone are left as text: filter date reads them"),
    locale: withoutEffect("times are left as text: filter date reads them"),
    raw_data_field: optional(text("target field for the original text")),
    device: oneOf(["observer", "host"], "with ECS, name of the device", "observer"),
    ecs_compatibility: oneOf(
      ["disabled", "v1", "v8"],
      "v1 and v8 name fields by the Elastic Common Schema",
      "disabled",
    ),
  }),
  create(values) {
    const ecs = values.ecs_compatibility !== "disabled";
    const raw = values.raw_data_field === undefined ? undefined : fieldReference(values.raw_data_field);
    const head = [
      values.vendor,
      values.product,
      values.version,
      values.signature,
      values.name,
      values.severity,
    ].map(compileFormat);
    const parse = (bytes: Uint8Array, timeMs: number): Event => {
      const line = decodeText(bytes).replace(/[\r\n]+$/, "");
      let event = new Event({}, timeMs);
      if (!isRead(event, line, ecs, values.device)) {
        event = new Event({ message: line }, timeMs);
        event.tag(FAILURE_TAG);
      }
      if (raw !== undefined) event.set(raw, line);
      return event;
    };
    return {
      decode(payload, timeMs) {
        const parts = values.delimiter === undefined ? [payload] : splitPayload(payload, values.delimiter);
        return parts.map((part) => parse(part, timeMs));
      },
      encode(event) {
        const header = head.map((format) => escapeHeader(format(event))).join("|");
        const extensions = values.fields.flatMap((name) => {
          const value = event.get(fieldReference(name));
          if (value === undefined || value === null) return [];
          return [`${shortName(name, values.reverse_mapping)}=${escapeValue(valueText(value))}`];
        });
        return Buffer.from(`CEF:0|${header}|${extensions.join(" ")}${values.delimiter ?? ""}`);
      },
    };
  },
});

/** Returns false also where keys are no names of fields, or are in each other's way. */
function isRead(event: Event, line: string, ecs: boolean, device: string): boolean {
  try {
    return read(event, line, ecs, device);
  } catch {
    return false;
  }
}

function read(event: Event, line: string, ecs: boolean, device: string): boolean {
  const start = line.search(/\bCEF:\s?\d/);
  if (start < 0) return false;
  const parts = splitHeader(line.slice(start + 4));
  if (parts === undefined) return false;
  const observe = (path: string): string => (device === "host" ? path.replace("[observer]", "[host]") : path);
  for (const [index, [legacy, path]] of HEADER.entries())
    event.set(fieldReference(ecs ? observe(path) : legacy), parts.header[index]!.trim());
  const syslog = line.slice(0, start).trim();
  if (syslog !== "") event.set(fieldReference(ecs ? "[log][syslog][header]" : "syslog"), syslog);
  for (const [key, value] of extensionsOf(parts.extensions)) setExtension(event, key, value, ecs, observe);
  return true;
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

/** Values run up to the next key, blanks included. */
function extensionsOf(text: string): [string, string][] {
  const keys = [...text.matchAll(KEY)];
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

function setExtension(
  event: Event,
  key: string,
  value: string,
  ecs: boolean,
  observe: (path: string) => string,
): void {
  if (value === "") return;
  const known = CEF_NAMES.get(key);
  const isNumber = known?.isNumber === true && /^-?\d{1,15}$/.test(value);
  if (ecs) {
    const path = known === undefined ? `[cef][ext][${key.replace(/[[\]]/g, "_")}]` : observe(known.ecs);
    event.set(
      fieldReference(path),
      path === "[@timestamp]" ? (timeOf(value) ?? value) : isNumber ? Number(value) : value,
    );
    return;
  }
  const name = known?.long ?? key;
  // A list comes as key[0], key[1].
  const item = /^(.*?)\[(\d+)\]$/.exec(name);
  event.set(fieldReference(item === null ? name : `[${item[1]}][${item[2]}]`), value);
}

/** ms since 1970, or a date with its zone. */
function timeOf(value: string): string | undefined {
  const timeMs = /^\d{12,14}$/.test(value) ? Number(value) : Date.parse(value);
  return Number.isNaN(timeMs) ? undefined : new Date(timeMs).toISOString();
}

function shortName(name: string, reverse: boolean): string {
  if (reverse) for (const [short, { long }] of CEF_NAMES) if (long === name) return short;
  return name.replace(/^\[|\]$/g, "").replace(/\]\[/g, ".");
}

function escapeHeader(value: string): string {
  return value.replace(/[\r\n]+/g, " ").replace(/[\\|]/g, "\\$&");
}

function escapeValue(value: string): string {
  return value.replace(/[\\=]/g, "\\$&").replace(/\r?\n/g, "\\n");
}
