/** Filter fingerprint: a hash of fields, which identifies equal events. */

import { createHash, createHmac, randomUUID } from "node:crypto";
import { isIPv4, isIPv6 } from "node:net";
import { defineFilter } from "#hub/pipeline/plugins/filter.ts";
import { murmur32 } from "#proto/codec/murmur3-32.ts";
import { murmur128 } from "#proto/codec/murmur3-128.ts";
import { isHash, valueText } from "#proto/event.ts";
import { fieldReference } from "#proto/field-reference.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { flag, list, oneOf, optional, options, text } from "#proto/kit/options.ts";

const METHODS = [
  "SHA1",
  "SHA256",
  "SHA384",
  "SHA512",
  "MD5",
  "MURMUR3",
  "MURMUR3_128",
  "IPV4_NETWORK",
  "UUID",
  "PUNCTUATION",
] as const;

/** Hashes a plain value; MurmurHash3 tells integers from their texts. */
type Digest = (value: unknown) => string | number;

type Named = readonly [name: string, value: unknown];

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
    const sources = values.source.map(fieldReference);
    const sorted = values.source.toSorted();
    return {
      apply(event) {
        if (values.method === "UUID") {
          event.set(target, randomUUID());
          return true;
        }
        if (values.method === "PUNCTUATION") {
          for (const source of sorted.map(fieldReference))
            if (event.has(source)) event.set(target, punctuation(valueText(event.get(source))));
          return true;
        }
        if (values.concatenate_all_fields || values.concatenate_sources) {
          const named = sorted.map((name): Named => [name, event.get(fieldReference(name))]);
          // Names of an event's fields aren't references: they may have brackets.
          const all = values.concatenate_all_fields ? inOrder(event.fields) : named;
          event.set(target, digest(`|${joined(all)}|`));
          return true;
        }
        for (const source of sources) {
          const value = event.get(source);
          if (value === undefined) continue;
          event.set(
            target,
            Array.isArray(value) ? value.map((item) => digest(canonical(item))) : digest(canonical(value)),
          );
        }
        return true;
      },
    };
  },
});

function createDigest(method: string, key: string, base64: boolean): Digest {
  const encoding = base64 ? "base64" : "hex";
  if (method === "MURMUR3") return murmur3;
  if (method === "MURMUR3_128") return (value) => murmur128(bytes128(value), SEED_128).toString(encoding);
  if (method === "IPV4_NETWORK") return (value) => network(valueText(value), Number(key)) ?? valueText(value);
  const algorithm = method.toLowerCase();
  if (key === "") return (value) => createHash(algorithm).update(valueText(value)).digest(encoding);
  return (value) => createHmac(algorithm, key).update(valueText(value)).digest(encoding);
}

function inOrder(fields: Readonly<JsonObject>): Named[] {
  return Object.entries(fields).sort(([a], [b]) => (a < b ? -1 : 1));
}

/** `name|value|name|value` */
function joined(entries: readonly Named[]): string {
  return entries.map(([name, value]) => `${name}|${valueText(canonical(value))}`).join("|");
}

/** Returns names and values of objects in one order, and the members of lists, with `|` between; plain values as they are. */
function canonical(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => valueText(canonical(item))).join("|");
  return isHash(value) ? joined(inOrder(value)) : value;
}

/** Returns punctuation and symbols alone. */
function punctuation(value: string): string {
  return value.replace(/[^\p{P}\p{S}]/gu, "");
}

/** Returns the first address of the network that `address` is in, 0 ≤ `prefix` ≤ 128 bits; undefined for no address. */
export function network(address: string, prefix: number): string | undefined {
  if (isIPv6(address)) return network6(address, prefix);
  if (!isIPv4(address)) return undefined;
  const octets = address.split(".").map(Number);
  return octets
    .map((octet, index) => octet & (0xff << Math.max(0, Math.min(8, 8 * (index + 1) - prefix))) & 0xff)
    .join(".");
}

/** URL writes an address in its shortest form, without a zone or an IPv4 address in it. */
function network6(address: string, prefix: number): string {
  const shortest = (written: string): string => new URL(`http://[${written}]`).hostname.slice(1, -1);
  const [head = "", tail = ""] = shortest(address.replace(/%.*/, "")).split("::");
  const groups = (text: string): string[] => (text === "" ? [] : text.split(":"));
  const [first, last] = [groups(head), groups(tail)];
  const missing = Array.from({ length: 8 - first.length - last.length }, () => "0");
  const masked = [...first, ...missing, ...last].map((group, at) => {
    const kept = Math.max(0, Math.min(16, prefix - 16 * at));
    return (Number.parseInt(group, 16) & (0xffff << (16 - kept)) & 0xffff).toString(16);
  });
  return shortest(masked.join(":"));
}

function textBytes(value: unknown): Buffer {
  return Buffer.from(valueText(value));
}

/** An integer in little-endian order. */
function integerBytes(value: unknown, length: 4 | 8): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64LE(BigInt.asIntN(64, BigInt(value as number)));
  return bytes.subarray(0, length);
}

function bytes128(value: unknown): Buffer {
  if (!Number.isInteger(value)) return textBytes(value);
  return integerBytes(value, (value as number) === ((value as number) | 0) ? 4 : 8);
}

/** Returns MurmurHash3 (x86, 32 bits) with seed 0 of a plain value, which tells integers from their texts; 0..2^32-1. */
export function murmur3(value: unknown): number {
  return murmur32(Number.isInteger(value) ? integerBytes(value, 8) : textBytes(value), 0) >>> 0;
}

const SEED_128 = 2n;
