/** Filter fingerprint: a hash of fields, which identifies equal events. */

import { createHash, createHmac, randomUUID } from "node:crypto";
import { defineFilter } from "#hub/pipeline/plugins/filter.ts";
import { type Event, isHash, valueText } from "#proto/event.ts";
import { fieldReference } from "#proto/field-reference.ts";
import { flag, list, oneOf, optional, options, text } from "#proto/kit/options.ts";

const METHODS = [
  "SHA1",
  "SHA256",
  "SHA384",
  "SHA512",
  "MD5",
  "MURMUR3",
  "IPV4_NETWORK",
  "UUID",
  "PUNCTUATION",
] as const;

type Digest = (value: string) => string | number;

export const fingerprintFilter = defineFilter({
  name: "fingerprint",
  description: "puts a hash of fields into a field",
  options: options({
    source: list("fields to hash", ["message"]),
    target: optional(text("target field for the hash; default: fingerprint, with ECS [event][hash]")),
    key: optional(text("key of the hash (HMAC); for IPV4_NETWORK the length of the prefix, bits")),
    base64encode: flag("writes the hash as base64 instead of hexadecimal", false),
    method: oneOf(METHODS, "kind of hash", "SHA1"),
    concatenate_sources: flag("one hash of all fields and their names", false),
    concatenate_all_fields: flag("one hash of all fields of the event", false),
  }),
  create(values, { ecs, report }) {
    const digest = createDigest(values.method, values.key ?? "", values.base64encode);
    const prefix = Number(values.key);
    if (values.method === "IPV4_NETWORK" && !(prefix >= 0 && prefix <= 32)) {
      report("error", "method", "IPV4_NETWORK needs the length of the prefix in key", "write: key => 24");
    }
    const target = fieldReference(values.target ?? (ecs ? "[event][hash]" : "fingerprint"));
    const sources = values.source.map((name) => [name, fieldReference(name)] as const);
    return {
      apply(event) {
        if (values.method === "UUID" || values.method === "PUNCTUATION") {
          event.set(target, values.method === "UUID" ? randomUUID() : punctuation(event, sources[0]?.[1]));
          return true;
        }
        if (values.concatenate_all_fields || values.concatenate_sources) {
          const names = values.concatenate_all_fields ? Object.keys(event.fields).sort() : values.source;
          event.set(target, digest(concatenated(event, names)));
          return true;
        }
        for (const [, source] of sources) {
          const value = event.get(source);
          if (value === undefined) continue;
          event.set(
            target,
            Array.isArray(value) ? value.map((item) => digest(hashText(item))) : digest(hashText(value)),
          );
        }
        return true;
      },
    };
  },
});

function createDigest(method: string, key: string, base64: boolean): Digest {
  if (method === "MURMUR3") return (value) => murmur3(value);
  if (method === "IPV4_NETWORK") return (value) => network(value, Number(key));
  const algorithm = method.toLowerCase();
  const encoding = base64 ? "base64" : "hex";
  if (key === "") return (value) => createHash(algorithm).update(value).digest(encoding);
  return (value) => createHmac(algorithm, key).update(value).digest(encoding);
}

/** `|name|value|name|value|` */
function concatenated(event: Event, names: readonly string[]): string {
  let joined = "";
  for (const name of names) joined += `|${name}|${hashText(event.get(fieldReference(name)))}`;
  return `${joined}|`;
}

/** Objects with their names in order, so that equal ones have equal texts. */
function hashText(value: unknown): string {
  if (!isHash(value)) return valueText(value);
  const sorted = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${sorted.map(([name, item]) => `"${name}":${hashText(item)}`).join(",")}}`;
}

function punctuation(event: Event, source: ReturnType<typeof fieldReference> | undefined): string {
  return source === undefined ? "" : valueText(event.get(source)).replace(/[A-Za-z0-9\s]/g, "");
}

function network(address: string, prefix: number): string {
  const octets = address.split(".").map(Number);
  if (octets.length !== 4 || octets.some((octet) => !(octet >= 0 && octet <= 255))) return address;
  return octets
    .map((octet, index) => octet & (0xff << Math.max(0, Math.min(8, 8 * (index + 1) - prefix))) & 0xff)
    .join(".");
}

/** Returns the hash of the UTF-8 bytes of `text`, 0..2^32-1. */
function murmur3(text: string): number {
  const bytes = Buffer.from(text);
  let hash = 0;
  let at = 0;
  for (; at + 4 <= bytes.length; at += 4) {
    hash ^= scramble(bytes.readUInt32LE(at));
    hash = (hash << 13) | (hash >>> 19);
    hash = (Math.imul(hash, 5) + 0xe6546b64) | 0;
  }
  let tail = 0;
  for (let place = bytes.length - 1; place >= at; place--) tail = (tail << 8) | bytes[place]!;
  hash ^= scramble(tail) ^ bytes.length;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

function scramble(block: number): number {
  const mixed = Math.imul(block, 0xcc9e2d51);
  return Math.imul((mixed << 15) | (mixed >>> 17), 0x1b873593);
}
