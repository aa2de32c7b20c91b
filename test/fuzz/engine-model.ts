/** Random documents, and what a field of one means by the plainest reading of its JSON. */

import { HOUR_MS } from "#proto/kit/units.ts";
import type { Random } from "#test/support/engine/random.ts";

export type Json = Record<string, unknown>;

export const PROPERTIES = {
  message: { type: "text" },
  body: { properties: { title: { type: "text" }, code: { type: "long" } } },
  k: { type: "keyword" },
  parts: { properties: { name: { type: "keyword" }, size: { type: "long" } } },
  n: { type: "long" },
  f: { type: "double" },
  ok: { type: "boolean" },
  t: { type: "date" },
  ip: { type: "ip" },
  g: { type: "geo_point" },
};

export const TEXT_FIELDS = ["message", "body.title"] as const;
export const KEYWORD_FIELDS = ["k", "parts.name"] as const;
/** Long fields first; the rest aren't whole. */
export const NUMBER_FIELDS = ["n", "body.code", "parts.size", "f"] as const;

/** A word and its tokens by the standard analyzer. */
export const WORDS: readonly (readonly [word: string, tokens: readonly string[]])[] = [
  ["GET", ["get"]],
  ["error", ["error"]],
  ["größe", ["größe"]],
  ["Привет", ["привет"]],
  ["東京", ["東", "京"]],
  ["naïve", ["naïve"]],
  ["10.0.0.1", ["10.0.0.1"]],
  ["user_id", ["user_id"]],
  ["time-out", ["time", "out"]],
  ["/var/log", ["var", "log"]],
  ["ok", ["ok"]],
  ["it's", ["it's"]],
];

const KEYWORDS = ["alpha", "beta", "Gamma", "größe", "日本", "", "a b", "x*y", "alphabet"];

export const START_MS = Date.UTC(2025, 2, 28);

export function randomText(random: Random): string {
  const words = Array.from({ length: random.below(9) }, () =>
    random.oneIn(6) ? `id${random.below(400)}` : random.pick(WORDS)[0],
  );
  return words.join(random.oneIn(4) ? ", " : " ");
}

/** One value, or none, or several: `make` in the forms that JSON knows. */
function some(random: Random, make: () => unknown): unknown {
  if (random.oneIn(12)) return null;
  if (random.oneIn(5))
    return Array.from({ length: random.below(4) }, () => (random.oneIn(9) ? null : make()));
  return make();
}

function randomLong(random: Random): unknown {
  if (random.oneIn(30)) return random.pick(["nonsense", "", { not: "a number" }, true]);
  const value = random.oneIn(8) ? random.below(2 ** 31) * 4096 : random.below(60) - 20;
  return random.oneIn(6) ? String(value) : random.oneIn(9) ? value + 0.75 : value;
}

function randomTime(random: Random): unknown {
  const timeMs = START_MS + random.below(72) * HOUR_MS + random.below(HOUR_MS);
  if (random.oneIn(40)) return "yesterday";
  return random.oneIn(4) ? timeMs : new Date(timeMs).toISOString();
}

/** A document; half of them lack half of the fields. */
export function randomDocument(random: Random): Json {
  const document: Json = {};
  const add = (name: string, make: () => unknown): void => {
    if (!random.oneIn(3)) document[name] = some(random, make);
  };
  add("message", () => randomText(random));
  add("k", () => random.pick(KEYWORDS));
  add("n", () => randomLong(random));
  add("f", () => (random.oneIn(3) ? random.below(500) / 100 : Math.sqrt(random.below(1000))));
  add("ok", () => random.pick([true, false, "true", "false"]));
  add("t", () => randomTime(random));
  add("ip", () => `10.0.${random.below(3)}.${random.below(9)}`);
  if (random.oneIn(3))
    document["g"] = { lat: random.below(1600) / 10 - 80, lon: random.below(3400) / 10 - 170 };
  if (random.oneIn(2)) document["body"] = { title: randomText(random), code: random.below(9) };
  if (random.oneIn(3)) {
    document["parts"] = Array.from({ length: random.below(4) }, () => ({
      name: some(random, () => random.pick(KEYWORDS)),
      size: random.below(5),
    }));
  }
  return document;
}

/** All values at a path: of arrays and of the objects in them too, nulls left out. */
export function rawValues(document: unknown, path: string): unknown[] {
  const steps = path.split(".");
  let found: unknown[] = [document];
  for (const step of steps) {
    found = found
      .flatMap(flat)
      .filter((each) => typeof each === "object" && each !== null)
      .map((each) => (each as Json)[step]);
  }
  return found.flatMap(flat).filter((each) => each !== undefined && each !== null);
}

function flat(value: unknown): unknown[] {
  return Array.isArray(value) ? value.flatMap(flat) : [value];
}

/** Tokens of each text of a field. */
export function tokenLists(document: Json, path: string): string[][] {
  return rawValues(document, path)
    .filter((value) => typeof value === "string")
    .map(tokensOf);
}

/** Tokens of a text made of WORDS and ids. */
export function tokensOf(text: string): string[] {
  const words = text.split(/,? /).filter((word) => word !== "");
  return words.flatMap((word) => WORDS.find(([known]) => known === word)?.[1] ?? [word.toLowerCase()]);
}

export function keywords(document: Json, path: string): string[] {
  return [...new Set(rawValues(document, path).map(String))].sort();
}

/** Numbers of a field, ascending; what isn't one is left out. */
export function numbers(document: Json, path: string): number[] {
  return rawValues(document, path)
    .map((value) => numberOf(value, path))
    .filter((value) => !Number.isNaN(value))
    .sort((a, b) => a - b);
}

function numberOf(value: unknown, path: string): number {
  if (path === "t") return typeof value === "number" ? value : Date.parse(String(value));
  if (path === "ok") return String(value) === "true" ? 1 : 0;
  if (typeof value === "boolean" || typeof value === "object" || value === "") return Number.NaN;
  const number = Number(value);
  // A fraction above -1 is 0, not -0.
  return path === "f" ? number : Math.trunc(number) + 0;
}
