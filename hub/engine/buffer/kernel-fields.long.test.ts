import assert from "node:assert/strict";
import { before, suite, test } from "node:test";
import { Analysis } from "#hub/engine/analysis/analysis.ts";
import { kernelIndexing } from "#hub/engine/documents/kernel-documents.ts";
import type { Kernel } from "#hub/engine/kernel/kernel.ts";
import { Mapping } from "#hub/engine/mapping/mapping.ts";
import { plainIndexing } from "#test/oracles/engine/plain-indexing.ts";
import { assertSameSegment, randomText, sealed, testKernel } from "#test/support/engine/kernel.ts";
import { Random } from "#test/support/engine/random.ts";
import { testMapping } from "#test/support/engine/shard.ts";

let kernel: Kernel;

before(async () => {
  kernel = await testKernel();
});

/** Documents that `make` gives as objects or as text. */
function documents(count: number, make: (number: number) => unknown): Uint8Array[] {
  return Array.from({ length: count }, (_, number) => {
    const document = make(number);
    return Buffer.from(typeof document === "string" ? document : JSON.stringify(document));
  });
}

/** Seals the same documents by the kernel and by its oracle and compares. */
function compare(sources: readonly Uint8Array[], mapping: Mapping = testMapping(), what = ""): void {
  const used = kernel.memory.usedBytes;
  const actual = sealed(kernelIndexing(kernel), mapping, sources);
  const expected = sealed(plainIndexing, mapping, sources);
  assert.deepEqual(actual.outcomes, expected.outcomes, what);
  assertSameSegment(actual.segment, expected.segment, what);
  // Scratch buffers stay; all else is given back.
  const kept = kernel.memory.usedBytes - used;
  if (used > 1e6) assert.ok(kept < 1e6, `${kept} bytes stay in use`);
}

suite("fields in the kernel make the segment that the oracle makes", () => {
  const cases: readonly [name: string, make: (number: number) => unknown, count?: number][] = [
    ["no field", () => ({})],
    ["one word", () => ({ message: "one" })],
    [
      "words that join",
      () => ({ message: "it's 3.14 1,000;2 a:b 'q' a.b.c _ __ _a a_ 1.a a.1 a'1 x:1 1:2 .a. a." }),
    ],
    ["an empty text", (n) => ({ message: n % 2 ? "" : "a" })],
    ["several values", (n) => ({ message: ["a b", "b c", `${n}`], k: ["z", "a", "z"] })],
    [
      "words of more than 255 bytes",
      () => ({ message: `${"x".repeat(600)} ${"1.".repeat(400)} ${"_".repeat(300)}a` }),
    ],
    ["a text at the edge of vectors", (n) => ({ message: "ab ".repeat(1 + (n % 90)).slice(n % 3) }), 200],
    [
      "terms of full blocks",
      (n) => ({ message: `all ${n % 2 ? "half" : ""} ${n % 100} ${"rep ".repeat(n % 7)}` }),
      3000,
    ],
    [
      "terms that begin alike",
      (n) => ({
        k: `a path that is shared/${"long/".repeat(n % 5)}${n % 11 === 0 ? "é" : ""}${(n * 7919) % 1000}`,
      }),
      600,
    ],
    ["texts of more than 64 KiB", () => ({ message: "some more words, in 1.000 rows ".repeat(4000) }), 2],
    ["texts beyond ASCII", (n) => ({ message: `naïve 日本 ${n} ÉCOLE`, k: `ключ${n % 3}` })],
    ["numbers", (n) => ({ n, d: n / 4, f: n / 3, t: 1_700_000_000_000 + n * 37, b: n % 2 === 0 }), 3000],
    ["numbers beyond 2^53", (n) => (n === 5 ? '{"n": 9223372036854775807}' : { n })],
    ["numbers before and behind one beyond 2^53", () => '{"n": [3, -9223372036854775808, 2]}'],
    ["points and addresses", (n) => ({ g: { lat: n / 3 - 10, lon: n }, ip: `10.0.0.${n}` })],
    ["fields that are not indexed", (n) => ({ hidden: `h${n % 4}`, k: n % 3 ? "yes" : null })],
  ];
  for (const [name, make, count = 40] of cases) {
    test(name, () => {
      const sources = Array.from({ length: count }, (_, number) => {
        const made = make(number);
        return Buffer.from(typeof made === "string" ? made : JSON.stringify(made));
      });
      compare(sources);
    });
  }

  test("random texts, over the growth of all tables", () => {
    for (let seed = 1; seed <= 20; seed++) {
      const random = new Random(seed);
      const sources = documents(1 + random.below(seed === 20 ? 3000 : 300), (number) => ({
        message: random.oneIn(20) ? [randomText(random), randomText(random)] : randomText(random, 30),
        k: randomText(random, 3),
        n: number,
      }));
      compare(sources, testMapping(), `seed ${seed}`);
    }
  });

  test("a field without norms and one without positions", () => {
    const properties = {
      a: { type: "text", norms: false },
      b: { type: "text", index_options: "freqs" },
      c: { type: "text", position_increment_gap: 3 },
      d: { type: "keyword", doc_values: false },
      e: { type: "text", analyzer: "english" },
    };
    const mapping = Mapping.parse({ properties }, { index: "test", analysis: new Analysis() });
    const random = new Random(77);
    compare(
      documents(500, () => ({
        a: randomText(random),
        b: randomText(random),
        c: [randomText(random), randomText(random)],
        d: randomText(random, 2),
        e: "the quick brown foxes are running",
      })),
      mapping,
    );
  });
});
