import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { errorBody } from "#hub/api/error-body.ts";
import { IndexCounters } from "#hub/api/index-counters.ts";
import { writeJson } from "#hub/api/json-writer.ts";
import { checkParameters, parseQuery } from "#hub/api/parameters.ts";
import type { ApiParts } from "#hub/api/parts.ts";
import type { AliasInfo, IndexInfo } from "#hub/api/ports.ts";
import { ApiRequest } from "#hub/api/request.ts";
import type { ApiResponse, Method } from "#hub/api/route.ts";
import { Router } from "#hub/api/router.ts";
import { SlowQueries } from "#hub/api/slow-queries.ts";
import { Tasks } from "#hub/api/tasks.ts";
import { resolveIndices } from "#hub/cluster/index-names.ts";
import type { JsonObject } from "#hub/search/json.ts";
import { ResultCache } from "#hub/search/result-cache.ts";
import { IndexFixture } from "#hub/search/shard-fixture.ts";
import { systemClock } from "#proto/kit/clock.ts";
import { AppError, toAppError } from "#proto/kit/errors.ts";
import { silentLogger } from "#proto/kit/log.ts";
import { Metrics } from "#proto/kit/metrics.ts";
import { allSearchRoutes } from "./all.ts";
import { ScrollContexts } from "./scroll-contexts.ts";

const DOCS = [
  { message: "GET /a", status: 200, host: "web-1" },
  { message: "GET /b", status: 404, host: "web-2" },
  { message: "POST /c", status: 500, host: "web-1" },
];
const MAPPING = {
  properties: { message: { type: "text" }, status: { type: "long" }, host: { type: "keyword" } },
};
const ERRORS = { nodeId: "node" };

let logs: IndexFixture;
let other: IndexFixture;
let scrolls: ScrollContexts;
let open = 0;
let settings: JsonObject = {};

function infoOf(
  name: string,
  fixture: IndexFixture,
  aliases: Record<string, AliasInfo>,
  raw: JsonObject,
): IndexInfo {
  return {
    name,
    uuid: `uuid-${name}`,
    settings: { numberOfShards: fixture.shards.length, numberOfReplicas: 0, creationDate: 0, raw },
    mapping: fixture.shards[0]!.searcher.mapping,
    aliases,
    state: "open",
  };
}

function partsOf(compatVersion: string): ApiParts {
  const indices = new Map([
    ["logs", infoOf("logs", logs, { bad: { filter: { range: { status: { gte: 400 } } } }, all: {} }, {})],
    ["other", infoOf("other", other, {}, { "mapping.type_name": "line" })],
  ]);
  const fixtures = new Map([
    ["logs", logs],
    ["other", other],
  ]);
  return {
    indices: {
      resolve: (expression: string | undefined, options: object) =>
        resolveIndices(indices, expression, options),
    } as unknown as ApiParts["indices"],
    documents: {} as ApiParts["documents"],
    counters: new IndexCounters(systemClock),
    results: new ResultCache(),
    shards: {
      searchers(wanted: readonly IndexInfo[]) {
        return wanted.flatMap((index) =>
          fixtures.get(index.name)!.shards.map(({ shard, searcher }) => {
            open++;
            return {
              index,
              shard,
              searcher: {
                ...searcher,
                close: () => {
                  open--;
                },
              },
            };
          }),
        );
      },
    } as unknown as ApiParts["shards"],
    cluster: {
      nodes: () => [
        {
          id: "node",
          name: "hub-1",
          host: "127.0.0.1",
          httpAddress: "",
          transportAddress: "127.0.0.1:9300",
          attributes: {},
          master: true,
        },
      ],
      settings: () => ({ persistent: settings, transient: {} }),
    } as unknown as ApiParts["cluster"],
    dataFolder: ".",
    clock: systemClock,
    compatVersion,
    errors: ERRORS,
    remoteHosts: [],
    tasks: new Tasks(systemClock),
    slowQueries: new SlowQueries(systemClock, silentLogger(), Number.POSITIVE_INFINITY),
  };
}

before(() => {
  logs = new IndexFixture({ docs: DOCS, mapping: MAPPING, shards: 2 });
  other = new IndexFixture({ docs: [{ message: "x", status: "text" }], index: "other" });
  scrolls = new ScrollContexts(new Metrics());
});
after(() => {
  scrolls.stop();
  assert.equal(open, 0, "searchers that were opened are closed");
  logs.close();
  other.close();
});

interface Answer {
  readonly status: number;
  // Answers are looked into at any depth, as a client does.
  readonly body: Json;
}
type Json = { readonly [key: string]: Json } & { readonly [at: number]: Json; readonly length: number };

/** Sends a request to the routes and returns the answer as a client sees it. */
async function send(method: Method, uri: string, body?: unknown, version = "6.5.4"): Promise<Answer> {
  const [path = "", query = ""] = uri.split("?");
  const found = new Router(allSearchRoutes(partsOf(version), scrolls)).find(method, path);
  assert.equal(found.kind, "route", `${method} ${path}`);
  if (found.kind !== "route") throw new Error("no route");
  const text = body === undefined ? "" : typeof body === "string" ? body : JSON.stringify(body);
  let response: ApiResponse;
  try {
    const parameters = parseQuery(query);
    checkParameters(path, parameters, found.route.params);
    response = await found.route.handle(
      new ApiRequest({
        method,
        uri,
        path: found.path,
        query: parameters,
        headers: {},
        body: Buffer.from(text),
        principal: { name: "test", roles: ["admin"] },
        signal: new AbortController().signal,
      }),
    );
  } catch (error) {
    const failure = toAppError(error);
    if (failure.code === "internal") throw error;
    response = { status: failure.status, json: errorBody(failure, ERRORS) };
  }
  return { status: response.status, body: JSON.parse(writeJson(response.json)) as Json };
}

const sources = (body: Json): unknown[] =>
  Array.from(body["hits"]!["hits"]! as unknown as Json[], (hit) => hit["_source"]);

describe("_search", () => {
  test("answers in the shape of 6.5", async () => {
    const { status, body } = await send("GET", "/logs/_search", { query: { term: { host: "web-2" } } });
    assert.equal(status, 200);
    assert.deepEqual(Object.keys(body), ["took", "timed_out", "_shards", "hits"]);
    assert.deepEqual(body["_shards"], { total: 2, successful: 2, skipped: 0, failed: 0 });
    assert.equal(body["hits"]!["total"], 1);
    const { _score: score, ...hit } = body["hits"]!["hits"]![0]! as unknown as JsonObject;
    assert.deepEqual(hit, { _index: "logs", _type: "_doc", _id: "1", _source: DOCS[1] });
    assert.ok((score as number) > 0);
  });

  test("answers in the shape of 7 where that version is told", async () => {
    const { body } = await send("GET", "/logs/_search", {}, "7.10.2");
    assert.deepEqual(body["hits"]!["total"], { value: 3, relation: "eq" });
    const { body: asNumber } = await send("GET", "/logs/_search?rest_total_hits_as_int=true", {}, "7.10.2");
    assert.equal(asNumber["hits"]!["total"], 3);
  });

  /** [uri, body, sources] */
  const FOUND: readonly (readonly [uri: string, body: unknown, sources: unknown[]])[] = [
    ["/_search?q=status:404", undefined, [DOCS[1]]],
    ["/logs/_search?q=host:web-1&sort=status:desc&size=1", undefined, [DOCS[2]]],
    ["/logs/_doc/_search?sort=status", { query: { range: { status: { gte: 400 } } } }, [DOCS[1], DOCS[2]]],
    ["/logs/_search?q=get+AND+host:web-1&df=message&_source=host", undefined, [{ host: "web-1" }]],
    ["/bad/_search?sort=status", {}, [DOCS[1], DOCS[2]]],
    ["/bad,all/_search?sort=status", {}, DOCS],
    ["/logs,bad/_search?sort=status", {}, DOCS],
    ["/nothing*/_search", {}, []],
    ["/nothing/_search?ignore_unavailable=true", {}, []],
    ["/other/line/_search?_source=message", {}, [{ message: "x" }]],
    ["/other/_doc/_search?_source=message", {}, [{ message: "x" }]],
    ["/other/word/_search", {}, []],
    ["/logs/_search?size=0", {}, []],
  ];
  for (const [uri, body, expected] of FOUND) {
    test(`${uri} finds ${expected.length}`, async () => {
      const answer = await send("POST", uri, body);
      assert.equal(answer.status, 200, JSON.stringify(answer.body));
      assert.deepEqual(sources(answer.body), expected);
    });
  }

  /** [uri, body, status, type of the root cause, reason] */
  const REFUSED: readonly (readonly [
    uri: string,
    body: unknown,
    status: number,
    type: string,
    reason: RegExp,
  ])[] = [
    ["/nothing/_search", {}, 404, "index_not_found_exception", /no such index/],
    [
      "/logs/_search",
      { query: { foo: {} } },
      400,
      "parsing_exception",
      /no \[query\] registered for \[foo\]/,
    ],
    ["/logs/_search", { foo: {} }, 400, "parsing_exception", /Unknown key for a START_OBJECT in \[foo\]\./],
    ["/logs/_search", "{", 400, "json_parse_exception", /no valid JSON/],
    ["/logs/_search", { sort: ["x"] }, 400, "query_shard_exception", /No mapping found for \[x\]/],
    ["/logs/_search", { sort: ["message"] }, 400, "illegal_argument_exception", /Fielddata is disabled/],
    ["/logs/_search?from=-1", {}, 400, "illegal_argument_exception", /\[from\] parameter cannot be negative/],
    ["/logs/_search", { from: 10_000 }, 400, "query_phase_execution_exception", /Result window is too large/],
    [
      "/logs/_search?fron=1",
      {},
      400,
      "illegal_argument_exception",
      /unrecognized parameter: \[fron\] -> did you mean \[from\]/,
    ],
    [
      "/logs/_search?batched_reduce_size=1",
      {},
      400,
      "illegal_argument_exception",
      /batchedReduceSize must be >= 2/,
    ],
    [
      "/logs/_search?search_type=count",
      {},
      400,
      "illegal_argument_exception",
      /No search type for \[count\]/,
    ],
    [
      "/logs/_search?scroll=1m&size=0",
      {},
      400,
      "action_request_validation_exception",
      /\[size\] cannot be \[0\] in a scroll context/,
    ],
    ["/logs/_search?scroll=30d", {}, 400, "illegal_argument_exception", /Keep alive for scroll/],
    [
      "/logs/_search",
      { suggest: { s: {} } },
      501,
      "unsupported_operation_exception",
      /suggesters aren't offered/,
    ],
  ];
  for (const [uri, body, status, type, reason] of REFUSED) {
    test(`${uri} with ${JSON.stringify(body)} answers ${status}`, async () => {
      const answer = await send("POST", uri, body);
      assert.equal(answer.status, status);
      const root = answer.body["error"]!["root_cause"]![0]!;
      assert.equal(root["type"], type);
      assert.match(JSON.stringify(root["reason"]), reason);
    });
  }

  test("of shards that all fail names them", async () => {
    const { status, body } = await send("GET", "/logs/_search", { sort: ["x"] });
    assert.equal(status, 400);
    assert.equal(body["error"]!["type"], "search_phase_execution_exception");
    assert.equal(body["error"]!["reason"], "all shards failed");
    assert.equal(body["error"]!["failed_shards"]![0]!["reason"]!["index"], "logs");
  });

  test("of shards that partly fail says so, unless only whole answers are wanted", async () => {
    const { status, body } = await send("GET", "/_search?sort=status", {});
    assert.equal(status, 200);
    assert.equal(body["_shards"]!["failed"], 1);
    assert.equal(body["_shards"]!["failures"]![0]!["index"], "other");
    const whole = await send("GET", "/_search?sort=status&allow_partial_search_results=false", {});
    assert.equal(whole.status, 400);
  });

  test("counts buckets up to search.max_buckets", async () => {
    settings = { "search.max_buckets": "1" };
    try {
      const { status, body } = await send("GET", "/logs/_search", {
        aggs: { h: { terms: { field: "host" } } },
      });
      assert.equal(status, 503);
      assert.match(
        JSON.stringify(body),
        /Trying to create too many buckets. Must be less than or equal to: \[1\] but was \[2\]/,
      );
    } finally {
      settings = {};
    }
  });
});

describe("a scroll", () => {
  test("pages through a snapshot, keeps its total and is closed", async () => {
    const first = await send("POST", "/logs/_search?scroll=1m&size=2", { sort: ["status"] });
    assert.equal(first.body["hits"]!["hits"]!.length, 2);
    const id = first.body["_scroll_id"];
    const second = await send("POST", "/_search/scroll", { scroll: "1m", scroll_id: id });
    assert.deepEqual(sources(second.body), [DOCS[2]]);
    assert.equal(second.body["hits"]!["total"], 3);
    for (let page = 0; page < 2; page++) {
      const empty = await send("GET", `/_search/scroll/${JSON.stringify(id).replaceAll('"', "")}`);
      assert.deepEqual(
        [empty.body["hits"]!["hits"]!.length, empty.body["hits"]!["total"], empty.body["_shards"]!["total"]],
        [0, 3, 2],
      );
    }
    assert.deepEqual((await send("DELETE", "/_search/scroll", { scroll_id: [id] })).body, {
      succeeded: true,
      num_freed: 1,
    });
    const again = await send("DELETE", "/_search/scroll", { scroll_id: id });
    assert.deepEqual([again.status, again.body], [404, { succeeded: true, num_freed: 0 }]);
    const gone = await send("GET", "/_search/scroll", { scroll_id: id });
    assert.equal(gone.status, 404);
    assert.equal(gone.body["error"]!["root_cause"]![0]!["type"], "search_context_missing_exception");
    assert.equal(gone.body["error"]!["type"], "search_phase_execution_exception");
  });

  test("whose first page fails leaves nothing open", async () => {
    await send("POST", "/logs/_search?scroll=1m", { sort: ["x"] });
    assert.deepEqual((await send("DELETE", "/_search/scroll/_all")).body, { succeeded: true, num_freed: 0 });
  });
});

describe("_msearch", () => {
  test("answers each search by itself", async () => {
    const lines = [
      { index: "logs" },
      { query: { match_all: {} }, size: 1 },
      {},
      { query: { foo: {} } },
      { index: ["nothing"] },
      {},
      { type: "line" },
      {},
    ];
    const { status, body } = await send(
      "POST",
      "/_msearch",
      `${lines.map((line) => JSON.stringify(line)).join("\n")}\n`,
    );
    assert.equal(status, 200);
    const responses = Array.from(body["responses"]! as unknown as Json[]);
    assert.deepEqual(
      responses.map((each) => each["status"]),
      [200, 400, 404, 200],
    );
    assert.equal(responses[0]!["hits"]!["total"], 3);
    assert.equal(responses[1]!["error"]!["root_cause"]![0]!["type"], "parsing_exception");
    assert.equal(responses[3]!["hits"]!["total"], 1);
  });

  test("takes an empty header line and refuses a missing newline and an empty body", async () => {
    const { body } = await send("GET", "/logs/_msearch", '\n{"size":0}\n');
    assert.equal(body["responses"]![0]!["hits"]!["total"], 3);
    for (const text of ['{}\n{"size":0}', "", "{}\n", "[]\n{}\n"])
      assert.equal((await send("POST", "/_msearch", text)).status, 400, text);
  });
});

describe("the others", () => {
  test("_count counts by body, parameter and limits", async () => {
    assert.deepEqual((await send("GET", "/logs/_count")).body, {
      count: 3,
      _shards: { total: 2, successful: 2, skipped: 0, failed: 0 },
    });
    assert.equal(
      (await send("POST", "/logs/_count", { query: { term: { host: "web-1" } } })).body["count"],
      2,
    );
    assert.equal((await send("GET", "/bad/_count?q=web-1")).body["count"], 1);
    assert.equal((await send("GET", "/logs/_count?min_score=100")).body["count"], 0);
    const { status, body } = await send("POST", "/logs/_count", { match_all: {} });
    assert.equal(status, 400);
    assert.match(JSON.stringify(body["error"]!["reason"]), /request does not support \[match_all\]/);
  });

  test("_validate says whether a query is right and why not", async () => {
    assert.equal((await send("GET", "/logs/_validate/query?q=a")).body["valid"], true);
    assert.deepEqual((await send("GET", "/logs/_validate/query", { query: { invalid_query: {} } })).body, {
      valid: false,
    });
    assert.deepEqual(
      (await send("GET", "/logs/_validate/query?explain=true", { query: { invalid_query: {} } })).body,
      {
        valid: false,
        error: "org.elasticsearch.common.ParsingException: no [query] registered for [invalid_query]",
      },
    );
    const wrong = await send("GET", "/logs/_validate/query?explain=true", {
      query: { range: { status: { gte: "x" } } },
    });
    assert.equal(wrong.body["valid"], false);
    assert.match(JSON.stringify(wrong.body["explanations"]![0]!["error"]), /For input string/);
    assert.equal(
      (await send("GET", "/logs/_validate/query?explain=true")).body["explanations"]![0]!["explanation"],
      "*:*",
    );
  });

  test("_explain gives the score of one document", async () => {
    const { status, body } = await send("POST", "/logs/_doc/1/_explain", {
      query: { constant_score: { filter: { term: { status: 404 } }, boost: 2 } },
    });
    assert.deepEqual([status, body["matched"], body["explanation"]!["value"]], [200, true, 2]);
    assert.equal(
      (await send("POST", "/logs/_doc/0/_explain", { query: { term: { status: 404 } } })).body["matched"],
      false,
    );
    assert.equal((await send("POST", "/logs/_doc/99/_explain", { query: { match_all: {} } })).status, 404);
  });

  test("_field_caps tells types and conflicts of types apart", async () => {
    const { body } = await send("GET", "/_field_caps?fields=status,host,_id,message");
    assert.deepEqual(body["fields"]!["host"], {
      keyword: { type: "keyword", searchable: true, aggregatable: true },
    });
    assert.deepEqual(body["fields"]!["status"], {
      long: { type: "long", searchable: true, aggregatable: true, indices: ["logs"] },
      text: { type: "text", searchable: true, aggregatable: false, indices: ["other"] },
    });
    assert.deepEqual(body["fields"]!["_id"], { _id: { type: "_id", searchable: true, aggregatable: false } });
    assert.equal((await send("GET", "/_field_caps")).status, 400);
  });

  test("_search_shards says where a search would run", async () => {
    const { body } = await send("GET", "/bad/_search_shards");
    assert.equal(body["shards"]!.length, 2);
    assert.deepEqual(body["indices"], {
      logs: { aliases: ["bad"], filter: { range: { status: { gte: 400 } } } },
    });
  });
});

test("scrolls beyond the limit are refused with 429, and a stop closes all", async () => {
  const full = new ScrollContexts(new Metrics());
  const nothing = { indices: [], shards: [], close: () => undefined };
  const request = {} as Parameters<ScrollContexts["open"]>[0];
  for (let count = 0; count < 500; count++) full.open(request, nothing, 60_000);
  assert.throws(
    () => full.open(request, nothing, 60_000),
    (error) => error instanceof AppError && error.status === 429,
  );
  full.stop();
  full.open(request, nothing, 60_000);
  full.stop();
});
