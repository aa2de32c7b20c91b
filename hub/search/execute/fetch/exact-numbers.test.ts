/** Parts of documents show numbers as they were sent: whole ones beyond 2^53, and fractions with their zeros. */

import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import type { JsonObject } from "#proto/kit/json.ts";
import { IndexFixture } from "#test/support/search/shards.ts";

const NUMBERS = '{"n":4611686018427387903,"f":1.0,"e":1e3,"list":[2.50],"inner":{"n":-9223372036854775808}}';
const index = new IndexFixture({
  mapping: {
    properties: {
      n: { type: "long" },
      d: { type: "double" },
      u: { type: "unsigned_long" },
      o: { type: "nested" },
    },
  },
  docs: {
    a: `{"k":"x","o":[${NUMBERS}],${NUMBERS.slice(1)}`,
    b: '{"k":"y","n":["9007199254740993",7.9,"8"],"d":5,"u":18446744073709551615}',
    c: '{"d":[1234567890123456789,"123456789012345678901"]}',
  },
});
after(() => index.close());

async function printed(id: string, body: JsonObject): Promise<string> {
  return index.printed({ query: { ids: { values: [id] } }, ...body });
}

const holds = (text: string, part: string): void => assert.ok(text.includes(part), `${part} in ${text}`);

describe("numbers of a document", () => {
  test("stay as they are in a part of _source", async () => {
    holds(await printed("a", { _source: { excludes: ["k", "o"] } }), `"_source":${NUMBERS}`);
    holds(
      await printed("a", { _source: ["f", "inner.n"] }),
      '"_source":{"f":1.0,"inner":{"n":-9223372036854775808}}',
    );
  });

  test("stay as they are in nested objects that are hits, whole or in part", async () => {
    const nested = (inner_hits: JsonObject): JsonObject => ({
      _source: false,
      query: { nested: { path: "o", query: { match_all: {} }, inner_hits } },
    });
    holds(await index.printed(nested({})), `"_source":${NUMBERS}`);
    holds(
      await index.printed(nested({ _source: ["o.n", "o.e"] })),
      '"_source":{"n":4611686018427387903,"e":1e3}',
    );
  });

  test("stay as they are in top_hits", async () => {
    const aggs = { best: { top_hits: { _source: "n" } } };
    holds(await printed("a", { size: 0, aggs }), '"_source":{"n":4611686018427387903}');
  });

  test("are those of the mapping in fields", async () => {
    const fields = ["n", "d", "u"];
    const shown = '"fields":{"n":[9007199254740993,7,8],"d":[5.0],"u":[18446744073709551615]}';
    holds(await printed("b", { _source: false, fields }), shown);
    const doubles = '"fields":{"d":[1.2345678901234568E18,1.2345678901234568E20]}';
    holds(await printed("c", { _source: false, fields: ["d"] }), doubles);
    holds(await printed("a", { _source: false, fields: ["n"] }), '"fields":{"n":[4611686018427387903]}');
  });
});
