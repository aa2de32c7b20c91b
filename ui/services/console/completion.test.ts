import assert from "node:assert/strict";
import { test } from "node:test";
import { type ConsoleFacts, complete } from "./completion.ts";
import { readEndpoints } from "./endpoints.ts";
import type { Completion } from "./suggestions.ts";

const SEARCH = {
  summary: "Finds documents.",
  parameters: [{ name: "size", in: "query" }, { $ref: "#/x/pretty" }],
};
const FACTS: ConsoleFacts = {
  endpoints: readEndpoints({
    paths: {
      "/api/status": { get: {} },
      "/es/_search": { get: SEARCH, post: SEARCH },
      "/es/{index}/_search": { get: SEARCH },
      "/es/{index}": { delete: { summary: "Deletes indices." } },
      "/es/_cat/indices/{index}": { get: { summary: "Lists." } },
      "/es/_reindex": { get: { summary: "Not offered: changes by query." } },
    },
    components: { parameters: { pretty: { name: "pretty", in: "query" } } },
  }),
  indices: ["logs-1", "shop"],
  fieldsOf: (index) => (index === "shop" ? [{ name: "price.net", type: "long" }] : []),
};

/** `|` is the cursor. */
function at(text: string): Completion | undefined {
  return complete(text.replace("|", ""), text.indexOf("|"), FACTS);
}

const LABELS: readonly (readonly [string, readonly string[] | undefined])[] = [
  ["|", ["GET", "POST", "PUT", "DELETE", "HEAD"]],
  ["p|", ["POST", "PUT"]],
  ["GET |", ["_search", "logs-1", "shop", "_cat/indices"]],
  ["GET sh|", ["shop"]],
  ["GET /shop/_s|", ["_search"]],
  ["DELETE /|", ["logs-1", "shop"]],
  ["GET logs-1,s|", ["shop", "logs-1"]],
  ["GET /_cat/indices/|", ["logs-1", "shop"]],
  ["GET /shop/_search?p|", ["pretty"]],
  ["GET /shop/_search?pretty&|", ["size"]],
  ["GET /shop/_search?pretty=|", undefined],
  ['GET shop/_search\n{"query": {"match_p|"}}', ["match_phrase", "match_phrase_prefix"]],
  ["GET shop/_search\n{que|", ["query"]],
  ['GET shop/_search\n{"query": {"range": {"pr|', ["price.net"]],
  ['GET shop/_search\n{"query": {"range": {"price.net": {"g|": 1}}}}', ["gte", "gt"]],
  ['GET shop/_search\n{"query": {"bool": {"must": [{"ter|', ["term", "terms"]],
  ['GET shop/_search\n{"aggs": {"mine": {"max": {"field": "p|"}}}}', ["price.net"]],
  ['GET shop/_search\n{"size": 1, "si|"}', undefined],
  ['GET shop/_analyze\n{"tokenizer": "st|"}', ["standard"]],
  ['GET shop/_analyze\n{"filter": ["lowercase", "uni|"]}', ["unique"]],
  ['GET shop/_search\n# {"que|', undefined],
  ['GET shop/_search\n{"query": "done"|}', undefined],
  ['GET shop/_search\n{"script_fields": {"a": {"script": {"source": "doc[\'|', ["price.net"]],
  ['GET shop/_search\n{"sort": {"_script": {"script": {"source": "Mat|"}}}}', ["Math"]],
  ['POST shop/_update_by_query\n{"script": "ct|"}', ["ctx"]],
  [
    'PUT _ingest/pipeline/a\n{"processors": [{"set": {"if": "ctx.a != null && ctx.b.sta|"}}]}',
    ["startsWith"],
  ],
  [
    'PUT _scripts/a\n{"script": {"lang": "painless", "source": "def d = ZonedDateTime.o|',
    ["of", "ofInstant"],
  ],
  ['GET shop/_search\n{"query": {"script": {"script": {"source": "return \'retu|', undefined],
  ['GET shop/_search\n{"runtime_mappings": {"f": {"type": "long", "script": {"source": "em|"}}}}', ["emit"]],
  ["GET shop/_search\n{}\n|", ["GET", "POST", "PUT", "DELETE", "HEAD"]],
];

test("the cursor's place says what may be written there", () => {
  for (const [text, labels] of LABELS)
    assert.deepEqual(
      at(text)?.items.map(({ label }) => label),
      labels,
      text,
    );
});

function accept(text: string): string {
  const { from, to, items } = at(text)!;
  const plain = text.replace("|", "");
  const { insert, caret } = items[0]!;
  const whole = plain.slice(0, from) + insert + plain.slice(to);
  return `${whole.slice(0, from + caret)}|${whole.slice(from + caret)}`;
}

const ACCEPTED: readonly (readonly [string, string])[] = [
  ["g|", "GET |"],
  ['GET /_search\n{"que|"}', 'GET /_search\n{"query": {|}}'],
  [
    'GET shop/_search\n{"script_fields": {"a": {"script": "doc[\'p|]',
    'GET shop/_search\n{"script_fields": {"a": {"script": "doc[\'price.net\'|]',
  ],
  ["GET /_search\n{que|}", 'GET /_search\n{"query": {|}}'],
  ['GET /_search\n{"que|": {}}', 'GET /_search\n{"query"|: {}}'],
  ['GET /_search\n{"query": {"bool": {"mu|', 'GET /_search\n{"query": {"bool": {"must": [{|}]'],
  ['GET shop/_search\n{"sort": [{"pr|"}]}', 'GET shop/_search\n{"sort": [{"price.net": {"order": "|"}}]}'],
  [
    'GET /_search\n{"query": {"match": {"m": {"operator": "a|"}}}}',
    'GET /_search\n{"query": {"match": {"m": {"operator": "and"|}}}}',
  ],
];

test("what is accepted is written with its value begun and the cursor in it", () => {
  for (const [before, after] of ACCEPTED) assert.equal(accept(before), after);
});
