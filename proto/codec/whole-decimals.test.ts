import assert from "node:assert/strict";
import { test } from "node:test";
import { decimal, parseEventJson } from "./json.ts";
import { wholeDecimals } from "./whole-decimals.ts";

test("decimals are found by the names that lead to them", () => {
  for (const [text, found] of [
    ['{"a":30.0,"b":30,"c":1.5,"d":[1,2],"e":-2e1}', "a 30, e -20"],
    ['{ "o" : { "p" : { "x" : 1.0 } , "y" : 2.0 } , "z" : 3.0 }', "o.p.x 1, o.y 2, z 3"],
    [String.raw`{"m":"took 2.0, \"x\":3.0, \\","x":4.0}`, "x 4"],
    ['{"l":[{"a":1}],"x":4.0,"m":", \\" {[1.0,"}', "x 4"],
    ['{"a":"a","b":1}', ""],
    ['{"l":[1.0,[2,3.0],{"x":4.0}],"x":5.0}', "l.0 1, l.1.1 3, l.2.x 4, x 5"],
    ['[[1],{"a":2.0}]', "1.a 2"],
  ] as const) {
    const shown = wholeDecimals(text)?.map(({ path, value }) => `${path.join(".")} ${value}`);
    assert.equal(shown?.join(", "), found, text);
  }
});

test("nothing is found where names are no way to a decimal", () => {
  for (const text of [
    '{"a":1.0,"a":1}',
    '{"l":[1.0],"l":[1]}',
    '{"o":{"a":1.0},"p":{"a":2}}',
    `[${Array(33).fill("1.0").join()}]`,
    String.raw`{"\u0061":1.0}`,
    '{"__proto__":{"a":1.0}}',
  ])
    assert.equal(wholeDecimals(text), undefined, text);
});

test("the length of a list isn't taken for a member", () => {
  assert.equal(JSON.stringify(parseEventJson('{"a":{"length":3.0},"a":[1,2,3]}')), '{"a":[1,2,3]}');
});

test("a long text of many names is read in linear time", () => {
  const text = `{${Array.from({ length: 50_000 }, (_, at) => `"name${at}":1.0`).join()}}`;
  const startMs = performance.now();
  assert.equal(JSON.stringify(parseEventJson(text)), text);
  assert.ok(performance.now() - startMs < 2_000);
});

/** What the engine says of the sources of numbers. */
function expected(text: string): string {
  const parse = JSON.parse as unknown as (
    text: string,
    reviver: (key: string, value: unknown, context: { source?: string }) => unknown,
  ) => unknown;
  const value = parse(text, (_, each, { source }) =>
    typeof each === "number" && /[.eE]/.test(source!) ? decimal(each) : each,
  );
  return JSON.stringify(value);
}

const NUMBERS = ["30.0", "30", "1.5", "-0.0", "2e3", "1E-2", "0", "1e21", "120.000"];
const TEXTS = ["a", "b", "", 'say \\"3.0,\\"', "\\\\", "{", "[1.0]", ",", ":", "__proto__", "\\u0041"];

test("random texts are read as the engine reads them with the sources of their numbers", () => {
  let seed = 7;
  const random = (below: number): number => (seed = (seed * 48_271) % 0x7fffffff) % below;
  const pick = (list: readonly string[]): string => list[random(list.length)]!;
  const blank = (): string => pick(["", "", "", " "]);
  const make = (depth: number): string => {
    const kind = random(depth > 3 ? 4 : 7);
    const many = (item: (_: unknown, at: number) => string): string =>
      Array.from({ length: random(5) }, item).join(",");
    // Of a name that occurs again the engine reads the first value where it is asked for sources.
    const member = (_: unknown, at: number): string =>
      `${blank()}"${pick(TEXTS)}${at}"${blank()}:${blank()}${make(depth + 1)}${blank()}`;
    if (kind < 2) return pick(NUMBERS) + blank();
    if (kind < 4) return kind === 2 ? `"${pick(TEXTS)}"` : pick(["true", "null"]);
    if (kind === 4) return `[${blank()}${many(() => make(depth + 1))}]`;
    return `{${blank()}${many(member)}}`;
  };
  for (let round = 0; round < 20_000; round++) {
    const text = `{"r":${make(0)}}`;
    assert.equal(JSON.stringify(parseEventJson(text)), expected(text), text);
  }
});
