/** `fingerprint`: a hash of several fields, the same for the same values. */

import { createHash, type Hash } from "node:crypto";
import { Decimal } from "#hub/scripts/values/values.ts";
import { isHash, valueText } from "#proto/event.ts";
import { ProcessorFault } from "./ingest-document.ts";
import type { ProcessorKind } from "./processor.ts";

const METHODS: Readonly<Record<string, string>> = {
  MD5: "md5",
  "SHA-1": "sha1",
  "SHA-256": "sha256",
  "SHA-512": "sha512",
};

/** Precedes each value. */
const DELIMITER = Buffer.from([0]);
const TRUE = Buffer.from([1]);
const FALSE = Buffer.from([2]);

const MAX_INT = 2 ** 31;

export const fingerprint: ProcessorKind = (settings) => {
  const fields = [...settings.texts("fields")].sort();
  if (fields.length === 0) throw settings.fault("fields", "must specify at least one field");
  const target = settings.text("target_field", "fingerprint");
  const salt = settings.text("salt", "");
  const method = settings.text("method", "SHA-1");
  const algorithm = METHODS[method];
  if (algorithm === undefined) {
    const names = Object.keys(METHODS).join(",");
    throw settings.fault("method", `[${method}] must be one of the supported hash methods [${names}]`);
  }
  const ignoreMissing = settings.flag("ignore_missing");
  return (document) => {
    const values: unknown[] = [];
    for (const field of fields) {
      const value = document.get(field);
      if (value !== undefined && value !== null) values.push(value);
      else if (!ignoreMissing)
        throw new ProcessorFault(`missing field [${field}] when calculating fingerprint`);
    }
    if (values.length === 0) return;
    const hash = createHash(algorithm).update(salt);
    for (const value of values) add(hash, value);
    document.set(target, hash.digest("base64"));
  };
};

function add(hash: Hash, value: unknown): void {
  if (Array.isArray(value)) {
    for (const each of value) add(hash, each);
  } else if (!(value instanceof Decimal) && isHash(value)) {
    for (const key of Object.keys(value).sort()) {
      hash.update(DELIMITER).update(key);
      add(hash, value[key]);
    }
  } else {
    hash.update(DELIMITER).update(bytesOf(value));
  }
}

/** Numbers by their width, little endian: int, long, float, double. */
function bytesOf(value: unknown): Buffer {
  if (value === null || value === undefined) return Buffer.alloc(0);
  if (typeof value === "boolean") return value ? TRUE : FALSE;
  if (value instanceof Decimal && value.isFloat) {
    const bytes = Buffer.alloc(4);
    bytes.writeFloatLE(value.value);
    return bytes;
  }
  if (value instanceof Decimal) return doubleBytes(value.value);
  if (typeof value !== "number") return wideBytes(valueText(value), value);
  if (Number.isInteger(value) && value >= -MAX_INT && value < MAX_INT) {
    const bytes = Buffer.alloc(4);
    bytes.writeInt32LE(value);
    return bytes;
  }
  return Number.isInteger(value) ? longBytes(BigInt(value)) : doubleBytes(value);
}

/** A whole number that keeps its digits, or a text. */
function wideBytes(text: string, value: unknown): Buffer {
  return typeof value !== "string" && /^-?\d+$/.test(text) ? longBytes(BigInt(text)) : Buffer.from(text);
}

function longBytes(value: bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64LE(BigInt.asIntN(64, value));
  return bytes;
}

function doubleBytes(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleLE(value);
  return bytes;
}
