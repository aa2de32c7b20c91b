import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { JsonObject } from "#proto/kit/json.ts";
import { SearchRoutesFixture } from "#test/support/api/search-routes.ts";
import { termsEnumRoutes } from "./terms-enum.ts";

const WORDS = ["apple", "Apricot", "banana", "a.b", "a+c", "cherry"];
const DOCS: JsonObject[] = WORDS.map((word, n) => ({ word, tags: [word, `tag-${n}`], n, body: word }));
const MAPPING = {
  properties: {
    word: { type: "keyword" },
    tags: { type: "keyword" },
    n: { type: "long" },
    body: { type: "text" },
  },
};

const fixture = new SearchRoutesFixture({ docs: DOCS, mapping: MAPPING, routes: termsEnumRoutes });
after(() => fixture.close());

test("terms that begin with a text come in their order", async () => {
  const rows: [body: JsonObject, terms: string[]][] = [
    [{ field: "word" }, ["Apricot", "a+c", "a.b", "apple", "banana", "cherry"]],
    [{ field: "word", string: "a" }, ["a+c", "a.b", "apple"]],
    [{ field: "word", string: "a", case_insensitive: true }, ["Apricot", "a+c", "a.b", "apple"]],
    [{ field: "word", string: "a." }, ["a.b"]],
    [{ field: "word", string: "a", size: 1 }, ["a+c"]],
    [{ field: "tags", string: "tag-", index_filter: { range: { n: { gte: 4 } } } }, ["tag-4", "tag-5"]],
    [{ field: "word", string: "x" }, []],
    [{ field: "body", string: "a" }, []],
    [{ field: "nothing" }, []],
  ];
  for (const [body, terms] of rows) {
    const answer = await fixture.send("POST", "/logs/_terms_enum", body);
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
    assert.deepEqual(answer.body["terms"], terms, JSON.stringify(body));
    assert.equal(answer.body["complete"], true);
  }
});

test("what can't be answered is refused with the reason", async () => {
  const rows: [body: JsonObject, reason: RegExp][] = [
    [{ string: "a" }, /field cannot be null/],
    [{ field: "word", size: 0 }, /size must be between 1 and 10000/],
    [{ field: "word", search_after: "a" }, /give a longer string/],
    [{ field: "word", strng: "a" }, /did you mean .*string/],
  ];
  for (const [body, reason] of rows) {
    const answer = await fixture.send("POST", "/logs/_terms_enum", body);
    assert.equal(answer.status, 400, JSON.stringify(body));
    assert.match(JSON.stringify(answer.body), reason);
  }
});
