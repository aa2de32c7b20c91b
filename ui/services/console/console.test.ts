import assert from "node:assert/strict";
import { test } from "node:test";
import { forBrowser } from "./console-client.ts";
import { addToHistory } from "./history.ts";
import { compactJson, indentJson, lex, splitValues, toPlainJson } from "./loose-json.ts";
import {
  formatRequest,
  fromCurl,
  indexOf,
  isDestructive,
  parseRequests,
  requestsAt,
  toCall,
  toCurl,
} from "./requests.ts";

const TEXT = `# first
GET _search
{
  "query": { "match_all": {} } // all
}

post shop/_doc/_bulk?refresh
{index: {_id: 1}}
{"a": 1,
 "b": 12345678901234567890}
# the end

DELETE shop
`;

test("a text is cut into requests with their lines", () => {
  const requests = parseRequests(TEXT);
  assert.deepEqual(
    requests.map(({ method, path, firstLine, lastLine }) => [method, path, firstLine, lastLine]),
    [
      ["GET", "_search", 1, 4],
      ["POST", "shop/_doc/_bulk?refresh", 6, 9],
      ["DELETE", "shop", 12, 12],
    ],
  );
  const at = (from: number, to = from): string[] => requestsAt(requests, from, to).map(({ path }) => path);
  assert.deepEqual(at(3), ["_search"]);
  assert.deepEqual(at(5), ["_search"]);
  assert.deepEqual(at(4, 7), ["_search", "shop/_doc/_bulk?refresh"]);
  assert.deepEqual(at(0), []);
});

test("a line that looks like a request inside of a triple-quoted text begins none", () => {
  const [only, ...others] = parseRequests('PUT a/_doc/1\n{"m": """\nGET /x\n"""}');
  assert.equal(others.length, 0);
  assert.equal(toCall(only!).body, '{"m": "\\nGET /x\\n"}');
});

test("bodies are sent as they were typed, lines of JSON one value a line with every digit", () => {
  const [search, bulk] = parseRequests(TEXT).map(toCall);
  assert.equal(search!.path, "/_search");
  assert.deepEqual(JSON.parse(search!.body!), { query: { match_all: {} } });
  assert.equal(bulk!.body, '{index:{_id:1}}\n{"a":1,"b":12345678901234567890}\n');
  assert.equal(bulk!.contentType, "application/x-ndjson");
});

test("paths lose their host and keep date maths as one segment", () => {
  const pathOf = (line: string): string => toCall(parseRequests(line)[0]!).path;
  assert.equal(pathOf("GET http://localhost:9200/a/_search?q=x y"), "/a/_search?q=x%20y");
  assert.equal(pathOf("GET <logs-{now/d}>/_count # today"), "/%3Clogs-%7Bnow%2Fd%7D%3E/_count");
});

const FORMATTED: readonly (readonly [string, string])[] = [
  [
    '{"a":{},"b":[1,2],"c":[{"d":1}]}',
    '{\n  "a": {},\n  "b": [1, 2],\n  "c": [\n    {\n      "d": 1\n    }\n  ]\n}',
  ],
  ["{a:1.0e5, // why\nb:true}", "{\n  a: 1.0e5, // why\n  b: true\n}"],
  ['{"a":', '{\n  "a":'],
  ['{"open": "never closed\n}', '{\n  "open": "never closed\n}'],
];

test("JSON is indented and put on one line without a value changing", () => {
  for (const [from, to] of FORMATTED) {
    assert.equal(indentJson(from), to);
    assert.equal(indentJson(to), to, "a formatted text stays");
  }
  assert.equal(compactJson('{ "a" : """x "y" """, # c\n "b" : [ 1 ] }'), '{"a":"x \\"y\\" ","b":[1]}');
  assert.equal(toPlainJson('{"u": "http://x#y"} # c').trim(), '{"u": "http://x#y"}');
  assert.deepEqual(
    splitValues("{} {x:1}\n[2").map(({ start, end }) => [start, end]),
    [
      [0, 2],
      [3, 8],
      [9, 11],
    ],
  );
});

test("tokens leave no character out, whatever the text", () => {
  for (const text of ['{"a', '"""', "/*", 'é\u0000"\\', TEXT])
    assert.equal(
      lex(text)
        .map(({ start, end }) => text.slice(start, end))
        .join(""),
      text,
    );
});

test("a formatted request keeps its lines of JSON", () => {
  const [search, bulk, remove] = parseRequests(TEXT).map(formatRequest);
  assert.equal(search!.split("\n")[0], "GET _search");
  assert.equal(bulk!.split("\n").length, 3);
  assert.equal(remove, "DELETE shop");
});

test("what destroys is known, and which index it concerns", () => {
  const rows: readonly (readonly [string, boolean, string | undefined])[] = [
    ["DELETE logs-*", true, "logs-*"],
    ["DELETE /shop/_doc/1", true, "shop"],
    ["DELETE _search/scroll", false, undefined],
    ["POST shop/_delete_by_query?x=1", true, "shop"],
    ["POST /_search", false, undefined],
    ["DELETE _all", true, "_all"],
  ];
  for (const [line, destructive, index] of rows) {
    const [request] = parseRequests(line);
    assert.equal(isDestructive(request!), destructive, line);
    assert.equal(indexOf(request!.path), index, line);
  }
});

test("requests become curl commands and come back from them", () => {
  const call = toCall(parseRequests(`POST a/_doc\n{"m": "it's"}`)[0]!);
  const command = toCurl(call, "http://h:9200");
  assert.equal(
    command,
    `curl -X POST 'http://h:9200/a/_doc' -H 'content-type: application/json' --data-binary '{"m": "it'\\''s"}'`,
  );
  assert.equal(fromCurl(command), `POST /a/_doc\n{"m": "it's"}`);
  assert.equal(fromCurl("curl -XPUT localhost:9200/a"), "PUT /a");
  assert.equal(fromCurl('curl "http://h/_search?q=1" \\\n -d "{\\"a\\":1}"'), 'POST /_search?q=1\n{"a":1}');
  assert.equal(fromCurl("GET /"), undefined);
});

test("a body of GET goes into the address, or by POST where that is the same", () => {
  const call = (path: string, body: string) =>
    forBrowser({ method: "GET", path, body, contentType: "application/json" });
  assert.match(
    call("/a/_analyze?pretty", "{}")!.path,
    /^\/a\/_analyze\?pretty&source=%7B%7D&source_content_type=/,
  );
  const long = "x".repeat(10_000);
  assert.equal(call("/a/_search?q", long)!.method, "POST");
  assert.equal(call("/a/_doc/1", long), undefined);
});

test("history keeps each text once, newest first, and leaves huge ones out", () => {
  const first = addToHistory([], { atMs: 1, text: "GET /", status: 200 });
  const second = addToHistory(first, { atMs: 2, text: "GET /a", status: 404 });
  const third = addToHistory(second, { atMs: 3, text: "GET /", status: 200 });
  assert.deepEqual(
    third.map(({ atMs }) => atMs),
    [3, 2],
  );
  assert.equal(addToHistory(third, { atMs: 4, text: "x".repeat(50_000), status: 200 }).length, 2);
});
