/** How inputs read lines of syslog: options of RFC 3164 and RFC 5424, and the codec that makes events from them. */

import type { Static } from "typebox";
import type { Codec } from "#hub/pipeline/plugins/codec.ts";
import type { InputOptionsContext } from "#hub/pipeline/plugins/input.ts";
import { joinTables } from "#hub/pipeline/plugins/inputs/stream/join-tables.ts";
import { decodeText } from "#proto/codec/plain.ts";
import { parseStructuredData } from "#proto/codec/structured-data.ts";
import { SEVERITY_LEVELS, SyslogLine } from "#proto/codec/syslog.ts";
import { LocalTime } from "#proto/codec/time.ts";
import { Event, Timestamp } from "#proto/event.ts";
import { type FieldReference, fieldReference } from "#proto/field-reference.ts";
import { findTimeZone, type TimeZone } from "#proto/kit/dates/time-zone.ts";
import { flag, list, oneOf, optional, options, text, withoutEffect } from "#proto/kit/options.ts";

const LEGACY_HOST = fieldReference("host");
const HOST_IP = fieldReference("[host][ip]");
const HOST_NAME = fieldReference("[host][name]");
const OBSERVER_IP = fieldReference("[observer][ip]");

/** Tag of events that aren't syslog. */
const FAILURE_TAG = "_grokparsefailure_sysloginput";

const FACILITIES = [
  "kernel",
  "user-level",
  "mail",
  "system",
  "security/authorization",
  "syslogd",
  "line printer",
  "network news",
  "UUCP",
  "clock",
  "security/authorization",
  "FTP",
  "NTP",
  "log audit",
  "log alert",
  "clock",
  "local0",
  "local1",
  "local2",
  "local3",
  "local4",
  "local5",
  "local6",
  "local7",
];

const SEVERITIES = ["Emergency", "Alert", "Critical", "Error", "Warning", "Notice", "Informational", "Debug"];

/** NUL, LF, CR. */
const ENDS = [0x00, 0x0a, 0x0d];

/** What a message without a priority counts as: user-level, notice (RFC 3164 §4.3.3). */
const DEFAULT_PRIORITY = 13;

/** Options of inputs that read lines of syslog. */
export const SYSLOG_FORMAT = {
  syslog_field: text("target field for text that isn't syslog", "message"),
  grok_pattern: withoutEffect(
    "both forms of syslog are read without it; read others with input tcp or udp and filter grok",
  ),
  use_labels: flag("adds the names of facility and severity", true),
  facility_labels: list("names of the facilities, by their number", FACILITIES),
  severity_labels: list("names of the severities, by their number", SEVERITIES),
  timezone: optional(text("time zone of times without one; default: this machine's")),
  locale: withoutEffect("months are read in English"),
  service_type: text("with ECS, value of service.type", "system"),
  ecs_compatibility: oneOf(
    ["disabled", "v1", "v8"],
    "v1 and v8 name fields by the Elastic Common Schema",
    "v8",
  ),
};

const OPTIONS = options(SYSLOG_FORMAT);

type Options = Static<typeof OPTIONS>;

/** Returns the zone of times that say none; undefined: the process's. Reports a name that isn't a zone. */
export function syslogZone(
  { timezone }: Pick<Options, "timezone">,
  report: InputOptionsContext["report"],
): TimeZone | undefined {
  const zone = timezone === undefined ? undefined : findTimeZone(timezone);
  if (timezone !== undefined && zone === undefined)
    report(
      "error",
      "timezone",
      `"${timezone}" is not a time zone`,
      "write for example Europe/Berlin or +02:00",
    );
  return zone;
}

/** Returns the field that takes the sender's address. */
export function senderField({ ecs_compatibility }: Pick<Options, "ecs_compatibility">): FieldReference {
  return ecs_compatibility === "disabled" ? LEGACY_HOST : HOST_IP;
}

/** Records who sent a message: the host that it names, or by ECS a relay of that host. */
export function setSender(event: Event, field: FieldReference, address: string): void {
  if (!event.has(field)) event.trySet(field, address);
  if (field !== HOST_IP) return;
  if (event.has(HOST_NAME)) event.trySet(OBSERVER_IP, address);
  else event.trySet(HOST_NAME, address);
}

/** Reads lines of syslog. */
export class SyslogCodec implements Codec {
  readonly #values: Options;
  readonly #line: SyslogLine;

  /** `zone`: of times that say none; without it the process's. */
  constructor(values: Options, zone?: TimeZone) {
    this.#values = values;
    this.#line = new SyslogLine(new LocalTime(zone));
  }

  decode(payload: Uint8Array, timeMs: number): Event[] {
    const bytes = withoutLength(payload);
    let end = bytes.length;
    // Devices end datagrams, and what they have counted, by a line end or a zero byte.
    while (end > 0 && ENDS.includes(bytes[end - 1]!)) end--;
    if (end === 0) return [];
    const line = this.#line;
    // A message whose head only has a priority is syslog too (RFC 3164 §4.3).
    if (!line.read(bytes, 0, end, timeMs))
      return [this.#headless(decodeText(bytes.subarray(0, end)), timeMs)];
    const event = new Event({}, Number.isNaN(line.timeMs) ? timeMs : line.timeMs);
    const text = (span: { start: number; end: number }): string | undefined =>
      span.start < 0 ? undefined : decodeText(bytes.subarray(span.start, span.end));
    event.fields["message"] = text(line.message) ?? "";
    this.#setPriority(event, line.priority < 0 ? DEFAULT_PRIORITY : line.priority);
    const data = text(line.structuredData);
    this.#setOrigin(event, text(line.host), text(line.process), text(line.pid));
    if (data !== undefined && data !== "")
      event.set(
        fieldReference(this.#ecs ? "[log][syslog][structured_data]" : "structured_data"),
        parseStructuredData(data),
      );
    const messageId = text(line.messageId);
    if (messageId !== undefined)
      event.set(fieldReference(this.#ecs ? "[log][syslog][msgid]" : "msgid"), messageId);
    return [event];
  }

  encode(event: Event): Uint8Array {
    return Buffer.from(`${event.toJson()}\n`);
  }

  get #ecs(): boolean {
    return this.#values.ecs_compatibility !== "disabled";
  }

  #headless(line: string, timeMs: number): Event {
    const found = /^<(\d{1,3})>/.exec(line);
    const event = new Event({}, timeMs);
    const isPriority = found !== null && Number(found[1]) <= 191;
    event.set(fieldReference(this.#values.syslog_field), isPriority ? line.slice(found[0].length) : line);
    this.#setPriority(event, isPriority ? Number(found[1]) : DEFAULT_PRIORITY);
    event.tag(FAILURE_TAG);
    return event;
  }

  #setPriority(event: Event, priority: number): void {
    const { use_labels, facility_labels, severity_labels } = this.#values;
    const [facility, severity] = [priority >> 3, priority & 7];
    const labels = use_labels ? [facility_labels[facility], severity_labels[severity]] : [];
    if (!this.#ecs) {
      Object.assign(event.fields, { priority, facility, severity });
      if (labels[0] !== undefined) event.fields["facility_label"] = labels[0];
      if (labels[1] !== undefined) event.fields["severity_label"] = labels[1];
      return;
    }
    event.set(fieldReference("[log][syslog]"), {
      priority,
      facility: { code: facility, ...(labels[0] !== undefined && { name: labels[0] }) },
      severity: { code: severity, ...(labels[1] !== undefined && { name: labels[1] }) },
    });
    event.set(fieldReference("[log][level]"), SEVERITY_LEVELS[severity]);
    event.set(fieldReference("[service][type]"), this.#values.service_type);
  }

  #setOrigin(
    event: Event,
    host: string | undefined,
    process: string | undefined,
    pid: string | undefined,
  ): void {
    const set = (legacy: string, ecs: string, value: unknown): void => {
      if (value !== undefined) event.set(fieldReference(this.#ecs ? ecs : legacy), value);
    };
    set("logsource", "[host][hostname]", host);
    if (this.#ecs && host !== undefined) event.set(HOST_NAME, host);
    set("program", "[process][name]", process);
    set("pid", "[process][pid]", pid === undefined || !this.#ecs ? pid : Number(pid));
    if (!this.#ecs) event.set(fieldReference("timestamp"), new Timestamp(event.timeMs));
  }
}

/** RFC 6587 §3.4.1: a length before the message, which the newline's framing left there. */
function withoutLength(payload: Uint8Array): Uint8Array {
  let at = 0;
  while (at < 6 && payload[at]! >= 0x30 && payload[at]! <= 0x39) at++;
  return at > 0 && payload[at] === 0x20 && payload[at + 1] === 0x3c ? payload.subarray(at + 1) : payload;
}

/** Reads messages of another format, one field of whose events is a line of syslog. */
export class EnvelopedSyslog implements Codec {
  readonly #envelope: Codec;
  readonly #syslog: SyslogCodec;
  readonly #field: FieldReference;

  /** `field`: where an event of `envelope` has the line. */
  constructor(envelope: Codec, syslog: SyslogCodec, field: string) {
    this.#envelope = envelope;
    this.#syslog = syslog;
    this.#field = fieldReference(field);
  }

  decode(payload: Uint8Array, timeMs: number): Event[] {
    return this.#envelope.decode(payload, timeMs).map((event) => {
      const line = event.get(this.#field);
      const [read] = typeof line === "string" ? this.#syslog.decode(Buffer.from(line), event.timeMs) : [];
      if (read === undefined) {
        event.tag(FAILURE_TAG);
        return event;
      }
      const { message, tags, ...fields } = read.fields;
      joinTables(event.fields, fields);
      if (message !== undefined) event.trySet(this.#field, message);
      for (const tag of Array.isArray(tags) ? tags : []) event.tag(String(tag));
      return event;
    });
  }

  encode(event: Event): Uint8Array {
    return this.#syslog.encode(event);
  }
}
