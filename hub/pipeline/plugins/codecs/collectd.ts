/** Codec collectd: packets of collectd's network plugin, an event for each list of values and each notification. */

import { readFileSync } from "node:fs";
import {
  type CollectdItem,
  type CollectdSecurity,
  readCollectd,
  type SecurityLevel,
} from "#hub/pipeline/formats/collectd-packet.ts";
import { COLLECTD_TYPES, type CollectdTypes, readTypesDb } from "#hub/pipeline/formats/collectd-types.ts";
import { damageReason } from "#hub/pipeline/formats/damaged-bytes.ts";
import { defineCodec } from "#hub/pipeline/plugins/codec.ts";
import { decimal } from "#proto/codec/json.ts";
import { Event } from "#proto/event.ts";
import { type FieldReference, fieldReference } from "#proto/field-reference.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { list, number, oneOf, optional, options, text, withoutEffect } from "#proto/kit/options.ts";
import { Type } from "#proto/kit/schema.ts";
import { plainCodec } from "./plain.ts";

const FAILURE_TAG = "_collectdparsefailure";

const LEVELS: readonly SecurityLevel[] = ["None", "Sign", "Encrypt"];

export const collectdCodec = defineCodec({
  name: "collectd",
  description: "reads packets of collectd's network plugin: values of a machine, and notifications",
  options: options({
    typesdb: list(
      "files with the names of values by type, as types.db of collectd; default: the usual types",
    ),
    security_level: oneOf(
      LEVELS,
      "protection that packets must have; others become events with a tag",
      "None",
    ),
    authfile: optional(text("file of users and passwords, a line each: user: password")),
    nan_handling: oneOf(
      ["change_value", "warn", "drop"],
      "treatment of a value that isn't a number: nan_value and nan_tag, or the event is dropped; warn is change_value",
      "change_value",
    ),
    nan_value: number("what is written for a value that isn't a number", 0),
    nan_tag: text("tag of events with a value that wasn't a number; empty: none", "_collectdNaN"),
    target: optional(text("target field for the fields; default: the event itself")),
    prune_intervals: withoutEffect("intervals never become events", Type.Boolean({ default: true })),
  }),
  create(values) {
    const types = values.typesdb.length === 0 ? COLLECTD_TYPES : readTypesDb(values.typesdb);
    const security = { level: values.security_level, passwords: readPasswords(values) };
    const plain = plainCodec.create({ charset: "UTF-8" });
    const into =
      values.target === undefined || values.target === "" ? undefined : fieldReference(values.target);
    return {
      decode(payload, timeMs) {
        const packet = Buffer.from(payload.buffer, payload.byteOffset, payload.length);
        const events: Event[] = [];
        try {
          for (const item of readCollectd(packet, security)) {
            const event = eventOf(item, types, values, timeMs, into);
            if (event !== undefined) events.push(event);
          }
        } catch (error) {
          if (!(error instanceof RangeError)) throw error;
          const failure = new Event(
            { message: packet.toString("hex"), error: { message: damageReason(error) } },
            timeMs,
          );
          failure.tag(FAILURE_TAG);
          events.push(failure);
        }
        return events;
      },
      encode: (event) => plain.encode(event),
    };
  },
});

interface NanOptions {
  readonly nan_handling: "change_value" | "warn" | "drop";
  readonly nan_value: number;
  readonly nan_tag: string;
}

/** Returns an item's event; undefined: it is dropped. */
function eventOf(
  { identity, timeMs, values = [], message, severity }: CollectdItem,
  types: CollectdTypes,
  { nan_handling, nan_value, nan_tag }: NanOptions,
  nowMs: number,
  into: FieldReference | undefined,
): Event | undefined {
  const { plugin_instance, type_instance, ...named } = identity;
  const fields: JsonObject = { ...named };
  if (plugin_instance !== undefined && plugin_instance !== "") fields["plugin_instance"] = plugin_instance;
  if (type_instance !== undefined && type_instance !== "") fields["type_instance"] = type_instance;
  const names = types.get(identity.collectd_type ?? "") ?? [];
  const isNan = values.some((value) => Number.isNaN(value));
  if (isNan && nan_handling === "drop") return undefined;
  for (const [index, value] of values.entries()) {
    const name = values.length === 1 ? "value" : (names[index] ?? `value${index}`);
    fields[name] = Number.isNaN(value) ? decimal(nan_value) : value;
  }
  if (message !== undefined) fields["message"] = message;
  if (severity !== undefined) fields["severity"] = severity;
  const event = new Event(into === undefined ? fields : {}, timeMs ?? nowMs);
  if (into !== undefined) event.set(into, fields);
  if (isNan && nan_tag !== "") event.tag(nan_tag);
  return event;
}

function readPasswords({
  security_level: level,
  authfile,
}: {
  readonly security_level: SecurityLevel;
  readonly authfile?: string;
}): CollectdSecurity["passwords"] {
  if (authfile === undefined) {
    if (level !== "None") throw new Error(`security_level ${level} needs an authfile`);
    return new Map();
  }
  const lines = readFileSync(authfile, "utf8").matchAll(/^([^:\n]+): *(.+?)\r?$/gm);
  return new Map([...lines].map(([, user, password]) => [user!, password!] as const));
}
