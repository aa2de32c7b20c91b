/**
 * Filters that change texts: truncate, urldecode, bytes, fingerprint.
 *
 * Not expected: escapes that aren't UTF-8; the null that urldecode makes of a missing field; lists and hashes within lists, which
 * truncate leaves and the product doesn't.
 */

import { createHash, createHmac } from "node:crypto";
import type { Dice } from "#test/fuzz/oracle/dice.ts";
import type { PlainFilter } from "../configuration.ts";
import { FieldError } from "../plain-event.ts";
import { comparable, isHash, textOf, Unspecified, type Value } from "../values.ts";
import { reference, target } from "../vocabulary.ts";

export function truncate(dice: Dice): PlainFilter {
  const fields = dice.times(dice.between(1, 2), () => reference(dice));
  const length = dice.pick([0, 1, 2, 3, 5, 20, 1000]);
  return {
    name: "truncate",
    options: { fields, length_bytes: length },
    apply(event, { matched }) {
      let hasChanged = false;
      for (const field of fields) {
        const before = event.get(field);
        if (before === undefined) continue;
        const after = shortened(before, length);
        if (comparable(before) === comparable(after)) continue;
        hasChanged = true;
        event.set(field, after);
      }
      if (hasChanged) matched(event);
    },
  };
}

function shortened(value: Value, length: number): Value {
  if (typeof value === "string") return cut(value, length);
  if (Array.isArray(value)) return value.map((each) => shortenedItem(each, length));
  return isHash(value) ? new Map([...value].map(([key, each]) => [key, shortened(each, length)])) : value;
}

function shortenedItem(item: Value, length: number): Value {
  if (Array.isArray(item) || isHash(item)) throw new Unspecified("all elements, its documentation says");
  return typeof item === "string" ? cut(item, length) : item;
}

function cut(text: string, length: number): string {
  let kept = "";
  let bytes = 0;
  for (const character of text) {
    bytes += Buffer.byteLength(character);
    if (bytes > length) break;
    kept += character;
  }
  return kept;
}

export function urldecode(dice: Dice): PlainFilter {
  const field = dice.chance(0.6) ? undefined : reference(dice);
  return {
    name: "urldecode",
    options: { field },
    message: () =>
      dice.pick([
        "a%20b",
        "%C3%A4+x",
        "100%",
        "%zz%41",
        "%41%42%43",
        "%e6%97%a5%E6%9C%AC",
        "%2525",
        "%00",
        "x",
      ]),
    apply(event, { matched }) {
      const name = field ?? "message";
      const value = event.get(name);
      if (value === undefined) throw new Unspecified("a missing field, which becomes null");
      try {
        event.set(name, decoded(value));
      } catch (error) {
        if (!(error instanceof FieldError)) throw error;
        event.tag("_urldecodefailure");
      }
      matched(event);
    },
  };
}

function decoded(value: Value): Value {
  if (typeof value === "string")
    return value.replaceAll(/(?:%[0-9a-f]{2})+/gi, (escapes) => {
      const bytes = Buffer.from(escapes.replaceAll("%", ""), "hex");
      const text = bytes.toString();
      if (!Buffer.from(text).equals(bytes)) throw new Unspecified("no UTF-8");
      return text;
    });
  if (Array.isArray(value)) return value.map(decoded);
  return isHash(value) ? new Map([...value].map(([key, each]) => [key, decoded(each)])) : value;
}

const POWERS = "kmgtpe";

export function bytes(dice: Dice): PlainFilter {
  const isMetric = dice.chance(0.5);
  const separator = dice.pick([".", ","]);
  const into = dice.chance(0.3) ? undefined : target(dice);
  return {
    name: "bytes",
    options: {
      conversion_method: isMetric ? "metric" : "binary",
      decimal_separator: separator,
      target: into ?? "message",
    },
    message: () =>
      dice.pick([
        "32 kB",
        "1.5MB",
        "1,5 MB",
        "100",
        "1 024 b",
        "2G",
        "x",
        "",
        "kB",
        "12 kbit",
        " 7 KB ",
        "1_000.25 kb",
        "3tb",
        "1EB",
        "-5kB",
      ]),
    apply(event, { matched }) {
      const source = event.get("message");
      const found =
        typeof source === "string"
          ? /^([0-9 _,.]*)[ \t\r\n\f\v]*([kmgtpe]?)(b?)$/im.exec(
              source.replaceAll(/^[\0\t\n\v\f\r ]+|[\0\t\n\v\f\r ]+$/g, ""),
            )
          : null;
      const number = found?.[1] ?? "";
      const plain = number.replaceAll(separator === "." ? /[^0-9.]/g : /[^0-9,]/g, "");
      if (found === null || number.split(separator).length > 2 || plain === "") {
        event.tag("_bytesparsefailure");
        return;
      }
      if (!/[0-9]/.test(plain)) throw new Unspecified("a number without digits");
      const power = found[2] === "" ? 0 : 1 + POWERS.indexOf(found[2]!.toLowerCase());
      const size = Number(plain.replace(",", ".")) * (isMetric ? 1000 : 1024) ** power;
      event.set(into ?? "message", BigInt(Math.round(size)));
      matched(event);
    },
  };
}

const METHODS = ["SHA1", "SHA256", "SHA384", "SHA512", "MD5"];

export function fingerprint(dice: Dice): PlainFilter {
  const method = dice.pick(METHODS);
  const key = dice.chance(0.5) ? "a key" : undefined;
  const isBase64 = dice.chance(0.4);
  const source = dice.some(["a", "b", "message", "[n][x]", "list", "n", "[list][0]"], dice.between(1, 3));
  const isJoined = dice.chance(0.5);
  const into = dice.chance(0.5) ? undefined : target(dice);
  const hashed = (value: Value | undefined): string => {
    const text = textOf(value);
    const hash = key === undefined ? createHash(method) : createHmac(method, key);
    return hash.update(text).digest(isBase64 ? "base64" : "hex");
  };
  return {
    name: "fingerprint",
    options: { method, key, base64encode: isBase64, source, concatenate_sources: isJoined, target: into },
    apply(event, { matched }) {
      const name = into ?? "fingerprint";
      if (isJoined) {
        const parts = source.toSorted().map((field) => `|${field}|${canonical(event.get(field))}`);
        event.set(name, hashed(`${parts.join("")}|`));
      } else
        for (const field of source) {
          if (!event.has(field)) continue;
          const value = event.get(field)!;
          event.set(
            name,
            Array.isArray(value) ? value.map((each) => hashed(canonical(each))) : hashed(canonical(value)),
          );
        }
      matched(event);
    },
  };
}

function canonical(value: Value | undefined): string {
  if (Array.isArray(value)) return value.map(canonical).join("|");
  if (!isHash(value)) return textOf(value);
  return [...value]
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([key, each]) => `${key}|${canonical(each)}`)
    .join("|");
}
