import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { FakeHub } from "#test/support/api/fake-hub.ts";
import { clientOf } from "#test/support/api/http-client.ts";

const hub = new FakeHub();
const send = clientOf(() => hub.server.addresses.http);

before(async () => {
  await hub.start();
  await send("PUT", "/nested", { settings: { number_of_shards: 2 } });
  await send("PUT", "/typed", {
    mappings: { line: { properties: { a: { type: "keyword" } } } },
    aliases: { t: {} },
  });
});
after(() => hub.stop());

/** Values of a document, which a filter would have to look up in each search. */
const LOOKUP = { terms: { a: { index: "typed", id: "1", path: "a" } } };
const NO_LOOKUP = /\[filter\] of an alias can't look up the values of \[terms\]/;

const ERRORS: readonly (readonly [string, string, object | undefined, number, string, RegExp])[] = [
  ["PUT", "/nested", {}, 400, "resource_already_exists_exception", /index \[nested\/.{22}\] already exists/],
  [
    "PUT",
    "/Upper",
    {},
    400,
    "invalid_index_name_exception",
    /Invalid index name \[Upper\], must be lowercase/,
  ],
  ["PUT", "/_under", {}, 400, "invalid_index_name_exception", /must not start with '_'/],
  ["GET", "/_under", undefined, 400, "invalid_index_name_exception", /must not start with '_'/],
  ["GET", "/missing", undefined, 404, "index_not_found_exception", /no such index/],
  ["DELETE", "/missing", undefined, 404, "index_not_found_exception", /no such index/],
  ["DELETE", "/t", undefined, 400, "illegal_argument_exception", /\[t\] matches an alias/],
  [
    "PUT",
    "/two",
    { mappings: { a: {}, b: {} } },
    400,
    "illegal_argument_exception",
    /more than 1 type: \[a, b\]/,
  ],
  [
    "PUT",
    "/odd",
    { settings: { foo: 1 } },
    400,
    "illegal_argument_exception",
    /unknown setting \[index.foo\]/,
  ],
  [
    "PUT",
    "/nested/_settings",
    { index: { refresh_intervall: 1 } },
    400,
    "illegal_argument_exception",
    /unknown setting \[index.refresh_intervall\] did you mean \[index.refresh_interval\]\?/,
  ],
  [
    "PUT",
    "/_template/odd",
    { index_patterns: ["odd"], settings: { "index.foo": 1 } },
    400,
    "illegal_argument_exception",
    /unknown setting \[index.foo\]/,
  ],
  ["PUT", "/odd", { settings: {}, odd: 1 }, 400, "parse_exception", /unknown key \[odd\] for create index/],
  [
    "PUT",
    "/typed/_mapping/other",
    { properties: {} },
    400,
    "illegal_argument_exception",
    /more than 1 type: \[line, other\]/,
  ],
  [
    "PUT",
    "/nested/_settings",
    { "index.number_of_shards": 9 },
    400,
    "illegal_argument_exception",
    /Can't update non dynamic settings \[\[index.number_of_shards\]\]/,
  ],
  [
    "PUT",
    "/_template/none",
    {},
    400,
    "action_request_validation_exception",
    /1: index patterns are missing;/,
  ],
  [
    "DELETE",
    "/_template/none",
    undefined,
    404,
    "index_template_missing_exception",
    /index_template \[none\] missing/,
  ],
  ["DELETE", "/typed/_alias/none", undefined, 404, "aliases_not_found_exception", /aliases \[none\] missing/],
  ["PUT", "/typed/_alias/l", { filter: LOOKUP }, 400, "illegal_argument_exception", NO_LOOKUP],
  [
    "POST",
    "/_aliases",
    { actions: [{ add: { index: "typed", alias: "l", filter: { bool: { must: [LOOKUP] } } } }] },
    400,
    "illegal_argument_exception",
    NO_LOOKUP,
  ],
  ["PUT", "/other", { aliases: { l: { filter: LOOKUP } } }, 400, "illegal_argument_exception", NO_LOOKUP],
  ["POST", "/_aliases", { actions: [] }, 400, "illegal_argument_exception", /No action specified/],
  ["POST", "/_aliases", {}, 400, "illegal_argument_exception", /^No action specified$/],
  [
    "POST",
    "/_aliases",
    { foo: [] },
    400,
    "x_content_parse_exception",
    /\[aliases\] unknown field \[foo\], parser not found$/,
  ],
  [
    "POST",
    "/_aliases",
    { actions: [{ foo: {} }] },
    400,
    "x_content_parse_exception",
    /\[alias_action\] unknown field \[foo\], parser not found$/,
  ],
  [
    "POST",
    "/_aliases",
    { actions: [{ add: { index: "t", alias: "u" } }] },
    400,
    "illegal_argument_exception",
    /^The provided expression \[t\] matches an alias, specify the corresponding concrete indices instead\.$/,
  ],
  [
    "POST",
    "/_aliases",
    { actions: [{ add: { index: "typed", alias: "l", filter: { foo: {} } } }] },
    400,
    "illegal_argument_exception",
    /^failed to parse filter for alias \[l\]$/,
  ],
  [
    "POST",
    "/_aliases",
    {
      actions: ["typed", "nested"].map((index) => ({ add: { index, alias: "two", is_write_index: true } })),
    },
    500,
    "illegal_state_exception",
    /^alias \[two\] has more than one write index \[nested,typed\]$/,
  ],
  ["PUT", "/_alias/l", {}, 400, "illegal_argument_exception", /^\[indices\] can't be empty$/],
  ["PUT", "/typed/_alias/a%23b", {}, 400, "invalid_alias_name_exception", /\[a#b\]: must not contain '#'$/],
  ["POST", "/none/_rollover", {}, 400, "illegal_argument_exception", /^source alias does not exist$/],
  ["POST", "/typed/_rollover", {}, 400, "illegal_argument_exception", /^source alias is a concrete index$/],
  [
    "POST",
    "/t/_rollover",
    {},
    400,
    "illegal_argument_exception",
    /^index name \[typed\] does not match pattern '\^\.\*-\\d\+\$'$/,
  ],
  [
    "POST",
    "/t/_rollover/nested",
    {},
    400,
    "resource_already_exists_exception",
    /^index \[nested\/.{22}\] already exists$/,
  ],
  [
    "POST",
    "/t/_rollover/new",
    { conditions: { max_age: 7 } },
    400,
    "x_content_parse_exception",
    /\[conditions\] max_age doesn't support values of type: VALUE_NUMBER$/,
  ],
  [
    "POST",
    "/t/_rollover/new",
    { conditions: { foo: 1 } },
    400,
    "x_content_parse_exception",
    /\[conditions\] unknown field \[foo\], parser not found$/,
  ],
  [
    "POST",
    "/t/_rollover/new",
    { settings: { "index.foo": 1 } },
    400,
    "illegal_argument_exception",
    /^unknown setting \[index\.foo\]/,
  ],
  [
    "PUT",
    "/typed/_settings",
    { index: { refresh_interval: "abc" } },
    400,
    "illegal_argument_exception",
    /^failed to parse setting \[index\.refresh_interval\] with value \[abc\] as a time value: unit is missing or unrecognized$/,
  ],
  [
    "PUT",
    "/_template/refreshing",
    { index_patterns: ["x-*"], settings: { refresh_interval: "abc" } },
    400,
    "illegal_argument_exception",
    /^failed to parse setting \[index\.refresh_interval\] with value \[abc\]/,
  ],
  [
    "PUT",
    "/_template/Ab",
    { index_patterns: ["x y"] },
    400,
    "invalid_index_template_exception",
    /^index_template \[Ab\] invalid, cause \[Validation Failed: 1: name must be lower cased;2: template must not contain a space;3: template must not contain the following characters .*;\]$/,
  ],
  [
    "GET",
    "/_cat/indices?s=none",
    undefined,
    500,
    "unsupported_operation_exception",
    /^Unable to sort by unknown sort key `none`$/,
  ],
  [
    "POST",
    "/nested/_shrink/fewer",
    {},
    500,
    "illegal_state_exception",
    /^index nested must be read-only to resize index. use "index.blocks.write=true"$/,
  ],
  [
    "POST",
    "/nested/_split/more",
    { settings: { number_of_shards: 4, number_of_routing_shards: 8 } },
    400,
    "illegal_argument_exception",
    /^cannot provide index.number_of_routing_shards on resize$/,
  ],
  [
    "POST",
    "/nested/_split/more",
    { foo: 1 },
    400,
    "x_content_parse_exception",
    /\[resize_request\] unknown field \[foo\], parser not found$/,
  ],
  ["GET", "/_analyze", {}, 400, "action_request_validation_exception", /1: text is missing;/],
  [
    "GET",
    "/_analyze",
    { analyzer: "x", text: "a" },
    400,
    "illegal_argument_exception",
    /failed to find global analyzer \[x\]/,
  ],
  [
    "GET",
    "/typed/_analyze",
    { analyzer: "x", text: "a" },
    400,
    "illegal_argument_exception",
    /failed to find analyzer \[x\]/,
  ],
  [
    "GET",
    "/_analyze",
    { tokenizer: "x", text: "a" },
    400,
    "illegal_argument_exception",
    /failed to find global tokenizer under \[x\]/,
  ],
  [
    "GET",
    "/_stats/doc",
    undefined,
    400,
    "illegal_argument_exception",
    /unrecognized metric: \[doc\] -> did you mean \[docs\]/,
  ],
];

test("what can't be done is answered with the type, status and wording of 6.5", async () => {
  for (const [method, path, body, status, type, reason] of ERRORS) {
    const answer = await send(method, path, body);
    assert.equal(answer.status, status, `${method} ${path}: ${answer.text}`);
    assert.equal(answer.body["error"]!["type"], type, `${method} ${path}`);
    assert.match(answer.body["error"]!["reason"] as unknown as string, reason);
    assert.equal(answer.body["error"]!["root_cause"]!.length, 1);
  }
});
