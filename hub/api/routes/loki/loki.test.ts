import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { JsonObject } from "#proto/kit/json.ts";
import { type Json, SearchRoutesFixture } from "#test/support/api/search-routes.ts";
import { lokiRoutes } from "./loki.ts";

/** A line each ten seconds from here on, ms. */
const START_MS = Date.UTC(2026, 0, 2, 10);
const LINES = [
  '{"status":200,"took":"12ms","path":"/a","user":{"id":7}}',
  'level=warn status=404 msg="not found" took=1.5s',
  "GET /slow timed out",
  '{"status":500,"took":"2s","path":"/b"}',
  "plain text with an error in it",
  '{"status":200,"took":"8ms","path":"/a"}',
];
const DOCS: JsonObject[] = LINES.map((message, n) => ({
  "@timestamp": new Date(START_MS + n * 10_000).toISOString(),
  message,
  labels: { job: n % 2 === 0 ? "shop" : "cart", ...(n < 3 && { env: "prod" }) },
  log: { level: n === 4 ? "error" : "info" },
  host: { name: `web-${n % 3}` },
  status: 200 + n,
}));
const keyword = { type: "keyword" };
const MAPPING = {
  properties: {
    "@timestamp": { type: "date" },
    message: { type: "text" },
    labels: { properties: { job: keyword, env: keyword } },
    log: { properties: { level: keyword } },
    host: { properties: { name: keyword } },
    status: { type: "long" },
  },
};

const MAPPING_OF_IDS = {
  properties: { "@timestamp": { type: "date" }, labels: { properties: { id: keyword, job: keyword } } },
};

const fixture = new SearchRoutesFixture({ docs: DOCS, mapping: MAPPING, routes: lokiRoutes });
after(() => fixture.close());

const SPAN = { start: `${START_MS}000000`, end: `${START_MS + 60_000}000000` };

async function ask(path: string, params: Record<string, string>): Promise<{ status: number; body: Json }> {
  return fixture.send("GET", `/loki/api/v1/${path}?${new URLSearchParams(params).toString()}`);
}

/** Indices of the lines that a query finds, oldest first. */
async function found(query: string): Promise<number[]> {
  const { status, body } = await ask("query_range", { ...SPAN, query, direction: "forward" });
  assert.equal(status, 200, JSON.stringify(body));
  const streams = body["data"]!["result"] as unknown as { values: [string, string][] }[];
  return streams
    .flatMap(({ values }) => values.map(([time]) => (Number(time) / 1e6 - START_MS) / 10_000))
    .toSorted((a, b) => a - b);
}

test("label matchers select lines by the fields that labels mean", async () => {
  const rows: [query: string, lines: number[]][] = [
    ['{job="shop"}', [0, 2, 4]],
    ['{job=~"sh.*|none"}', [0, 2, 4]],
    ['{job=~"shop|cart", level!="info"}', [4]],
    ['{job=~".+", env=""}', [3, 4, 5]],
    ['{job!="shop", host=~"web-[12]"}', [1, 5]],
    ['{host_name="web-0"}', [0, 3]],
    ['{status="203"}', [3]],
    ['{none="x"}', []],
    ['{_index="logs"}', [0, 1, 2, 3, 4, 5]],
  ];
  for (const [query, lines] of rows) assert.deepEqual(await found(query), lines, query);
});

test("stages filter lines and labels, and read labels out of lines", async () => {
  const rows: [stages: string, lines: number[]][] = [
    ['|= "timed"', [2]],
    ['|= "imed ou"', [2]],
    ['|= "TIMED"', []],
    ['|~ "(?i)TIMED|error"', [2, 4]],
    ['!= "status" !~ "plain"', [2]],
    ["|= `error` or `timed`", [2, 4]],
    ['| json | status_extracted="200"', []],
    ['| json | path="/a"', [0, 5]],
    ['| json | __error__="" | took > 1s', [3]],
    ['| json id="user.id" | id=7', [0]],
    ['| logfmt | status=404 and msg="not found"', [1]],
    ['| json | __error__="" | took >= 10ms or path="/b"', [0, 3]],
    ['| regexp "GET (?P<url>/\\\\S+)" | url="/slow"', [2]],
    ['| pattern "<method> <url> timed <_>" | method="GET"', [2]],
    ['| level="error"', [4]],
  ];
  for (const [stages, lines] of rows) assert.deepEqual(await found(`{job=~".+"} ${stages}`), lines, stages);
});

test("lines are answered by their streams, newest first up to the limit, and may be written anew", async () => {
  const { body } = await ask("query_range", {
    ...SPAN,
    query: '{job="shop"} | json | line_format "{{.path}} {{ToUpper .job}}"',
    limit: "2",
  });
  assert.equal(body["status"], "success");
  const { resultType, result } = body["data"] as unknown as { resultType: string; result: JsonObject[] };
  assert.equal(resultType, "streams");
  assert.equal(result.length, 2);
  assert.deepEqual(result[0]!["values"], [[`${START_MS + 40_000}000000`, " SHOP"]]);
  const stream = result[0]!["stream"] as JsonObject;
  assert.deepEqual([stream["job"], stream["level"], stream["host"]], ["shop", "error", "web-1"]);
});

/** Numbers by label at each step, as text. */
async function matrix(query: string, step = "30"): Promise<Record<string, string[]>> {
  const { status, body } = await ask("query_range", { ...SPAN, query, step });
  assert.equal(status, 200, JSON.stringify(body));
  const result = body["data"]!["result"] as unknown as { metric: JsonObject; values: [number, string][] }[];
  return Object.fromEntries(
    result.map(({ metric, values }) => [
      Object.values(metric).join(" "),
      values.map(([seconds, value]) => `${seconds - START_MS / 1000}:${value}`),
    ]),
  );
}

test("metrics count in the index and line by line alike", async () => {
  for (const stage of ["", '|~ "."']) {
    assert.deepEqual(await matrix(`sum by (job) (count_over_time({job=~".+"} ${stage} [30s]))`), {
      shop: ["0:1", "30:1", "60:1"],
      cart: ["30:2", "60:1"],
    });
    assert.deepEqual(await matrix(`sum(rate({job=~".+"} ${stage} [1m]))`), {
      "": ["0:0.016666666666666666", "30:0.06666666666666667", "60:0.08333333333333333"],
    });
    assert.deepEqual(await matrix(`sum by (env) (count_over_time({job="shop"} ${stage} [1m]))`), {
      prod: ["0:1", "30:2", "60:1"],
      "": ["60:1"],
    });
  }
});

const STATUS_MEDIAN = { shop: ["0:200", "30:200"], cart: ["30:500", "60:350"] };
const STATUS_SPREAD = { "/a": ["0:0", "30:0", "60:0"], "/b": ["30:0", "60:0"] };

test("functions over ranges and series", async () => {
  const rows: [query: string, expected: Record<string, string[]>][] = [
    ['sum(bytes_over_time({job="shop"} |= "timed" [1m]))', { "": ["30:19", "60:19"] }],
    ['sum(count_over_time({job=~".+"}[1m])) > 4', { "": ["60:5"] }],
    ['sum(count_over_time({job=~".+"}[1m] offset -30s)) > 3', { "": ["0:4", "30:5"] }],
    ['approx_topk(1, sum by (level) (count_over_time({job=~".+"}[1m])))', { info: ["0:1", "30:4", "60:4"] }],
    [
      'sum by (detected_level) (count_over_time({job=~".+"} | detected_level="error" [1m]))',
      { error: ["60:1"] },
    ],
    ['sum(count_over_time({job=~".+"}[1m])) * 2 + 1', { "": ["0:3", "30:9", "60:11"] }],
    ['topk(1, sum by (level) (count_over_time({job=~".+"}[1m])))', { info: ["0:1", "30:4", "60:4"] }],
    [
      'max by (path) (max_over_time({job=~".+"} | json | __error__="" | unwrap duration(took) [1m]))',
      { "/a": ["0:0.012", "30:0.012", "60:0.008"], "/b": ["30:2", "60:2"] },
    ],
    ['count(sum by (host) (count_over_time({job=~".+"}[1m])))', { "": ["0:1", "30:3", "60:3"] }],
    ['sum without (host, level, env) (count_over_time({job="cart"}[1m] offset 30s))', { cart: ["60:2"] }],
    [
      'sum(max_over_time({job=~".+"} | json | __error__="" | unwrap status [1m]) by (job))',
      { "": ["0:200", "30:700", "60:500"] },
    ],
    ['sum by (constructor) (bytes_over_time({job="shop"} |= "timed" [1m]))', { "": ["30:19", "60:19"] }],
    ["vector(1)+vector(1)", { "": ["0:2", "30:2", "60:2"] }],
    [
      'quantile_over_time(0.5, {job=~".+"} | json | __error__="" | unwrap status [1m]) by (job)',
      STATUS_MEDIAN,
    ],
    ['stddev_over_time({job=~".+"} | json | __error__="" | unwrap status [1m]) by (path)', STATUS_SPREAD],
    [
      'sum(rate({job="shop"} | json | __error__="" | unwrap status [1m]))',
      { "": ["0:3.3333333333333335", "30:3.3333333333333335"] },
    ],
    ['absent_over_time({job="shop", none="x"}[1m])', { "shop x": ["0:1", "30:1", "60:1"] }],
    ['absent_over_time({job="shop"}[1m])', {}],
    [
      'sum by (host) (count_over_time({job="shop"}[1m])) / ignoring (host) group_left sum(count_over_time({job="shop"}[1m]))',
      { "web-0": ["0:1", "30:0.5"], "web-2": ["30:0.5", "60:0.5"], "web-1": ["60:0.5"] },
    ],
    [
      'sum by (job, level) (count_over_time({job=~".+"}[1m])) + on (job) sum by (job) (count_over_time({job="cart"}[1m]))',
      { cart: ["30:4", "60:6"] },
    ],
    ['sum(count_over_time({job=~".+"}[1m])) > bool 4', { "": ["0:0", "30:0", "60:1"] }],
    [
      'sum by (job) (count_over_time({job=~".+"}[1m])) unless sum by (job) (count_over_time({job="cart"}[1m]))',
      { shop: ["0:1", "30:2", "60:2"] },
    ],
    [
      'sum by (job) (count_over_time({job="shop"}[1m])) or sum by (job) (count_over_time({job=~".+"}[1m])) and vector(1)',
      { shop: ["0:1", "30:2", "60:2"] },
    ],
    ["vector(2) ^ vector(3) ^ vector(2)", { "": ["0:512", "30:512", "60:512"] }],
    [
      'label_replace(sum by (host) (count_over_time({job="shop"}[1m])), "n", "$1", "host", "web-(.)")',
      { "web-0 0": ["0:1", "30:1"], "web-2 2": ["30:1", "60:1"], "web-1 1": ["60:1"] },
    ],
  ];
  for (const [query, expected] of rows) assert.deepEqual(await matrix(query), expected, query);
});

test("series by more labels than are counted are refused, not cut", async () => {
  const docs = Array.from({ length: 600 }, (_, n) => ({
    "@timestamp": new Date(START_MS + n).toISOString(),
    labels: { id: `id-${n}`, job: n < 500 ? "most" : "rest" },
  }));
  const many = new SearchRoutesFixture({ docs, mapping: MAPPING_OF_IDS, routes: lokiRoutes });
  const send = async (query: string): Promise<{ status: number; body: Json }> =>
    many.send(
      "GET",
      `/loki/api/v1/query_range?${new URLSearchParams({ ...SPAN, query, step: "30" }).toString()}`,
    );
  for (const stage of ["", '|~ "."']) {
    const refused = await send(`sum by (id) (count_over_time({job=~".+"} ${stage} [1m]))`);
    assert.equal(refused.status, 400, JSON.stringify(refused.body).slice(0, 200));
    assert.match(refused.body as unknown as string, /maximum of series \(500\) reached/);
    const fine = await send(`sum by (id) (count_over_time({job="most"} ${stage} [1m]))`);
    assert.equal((fine.body["data"]!["result"] as unknown as object[]).length, 500);
  }
  many.close();
});

test("values and lines beyond what is listed are told", async () => {
  const docs = Array.from({ length: 5_001 }, (_, n) => ({
    "@timestamp": new Date(START_MS + n).toISOString(),
    labels: { id: `id-${n % 1_001}`, job: n === 5_000 ? "newest" : "others" },
  }));
  const many = new SearchRoutesFixture({ docs, mapping: MAPPING_OF_IDS, routes: lokiRoutes });
  const send = async (path: string, params: Record<string, string>): Promise<Json> =>
    (await many.send("GET", `/loki/api/v1/${path}?${new URLSearchParams({ ...SPAN, ...params }).toString()}`))
      .body;
  const values = await send("label/id/values", {});
  assert.equal((values["data"] as unknown as string[]).length, 1_000);
  assert.match(JSON.stringify(values["warnings"]), /more than 1000 values/);
  assert.equal((await send("label/job/values", {}))["warnings"], undefined);
  assert.match(
    JSON.stringify((await send("series", { match: '{job=~".+"}' }))["warnings"]),
    /newest 5000 lines/,
  );
  assert.equal((await send("series", { match: '{job="others"}' }))["warnings"], undefined);
  many.close();
});

test("the requests of Grafana's data source and its query builder are answered", async () => {
  const time = `${START_MS + 60_000}000000`;
  const check = await ask("query", { query: "vector(1)+vector(1)", time });
  assert.deepEqual(check.body["data"]!["result"], [{ metric: {}, value: [START_MS / 1000 + 60, "2"] }]);
  assert.deepEqual((await ask("labels", SPAN)).body["data"], [
    "env",
    "host",
    "host_name",
    "job",
    "labels_env",
    "labels_job",
    "level",
    "log_level",
  ]); // prettier-ignore
  assert.deepEqual((await ask("label/job/values", SPAN)).body["data"], ["cart", "shop"]);
  const narrowed = await ask("label/host/values", { ...SPAN, query: '{job="shop", level="error"}' });
  assert.deepEqual(narrowed.body["data"], ["web-1"]);
  const series = await ask("series", { ...SPAN, "match[]": '{job="shop"}' });
  assert.equal((series.body["data"] as unknown as object[]).length, 3);
  assert.equal((await ask("index/stats", { ...SPAN, query: '{job="shop"}' })).body["entries"], 3);
  assert.equal((await ask("status/buildinfo", {})).body["version"], "2.9.0");
  const volume = 'sum by (level, detected_level) (count_over_time({job=~".+"} | drop __error__[30s]))';
  assert.deepEqual(await matrix(volume), { "info info": ["0:1", "30:3", "60:1"], "error error": ["60:1"] });
  const posted = await fixture.send(
    "POST",
    "/loki/api/v1/query_range",
    new URLSearchParams({ ...SPAN, query: '{job="shop"}' }).toString(),
  );
  assert.equal(posted.body["data"]!["resultType"], "streams");
});

/** Each of ten steps would make the label ten times as long. */
const TENFOLD = Array.from({ length: 10 }).reduce<string>(
  (inner) => `label_replace(${inner}, "a", "x${"$1".repeat(10)}", "a", "(.*)")`,
  "vector(1)",
);

test("what isn't offered or can't be read is refused in Loki's words with its place", async () => {
  const rows: [path: string, query: string, message: RegExp][] = [
    [
      "query_range",
      '{job="a"',
      /^parse error at line 1, col 9: syntax error: unexpected \$end, expecting ,$/,
    ],
    ["query_range", '{job=~".*"}', /queries require at least one regexp or equality matcher/],
    ["query_range", '{job="a"} |~ ip("1.2.3.4")', /col 14: syntax error: ip: invalid operation/],
    ["query_range", '{job="a"} |= ip("1.2.3")', /ip: invalid pattern: "1.2.3"/],
    ["query_range", '{job="a"} |> "<name>"', /named captures are not allowed: found '<name>'/],
    ["query_range", '{job="a"} | pattern "<_>"', /at least one capture is required/],
    ["query_range", '{job="a"} | pattern "<a> <a>"', /duplicate capture name \(a\)/],
    ["query_range", '{job="a"} | pattern "<a><b>"', /found consecutive capture '<a><b>'/],
    ["query_range", '{job="a"} | logfmt --lax', /unknown flag --lax: use --strict or --keep-empty/],
    ["query_range", 'topk(1.5, rate({job="a"}[1m]))', /invalid parameter topk\(1\.5,/],
    ["query_range", 'rate({job="a"}[1m]) by (job)', /grouping not allowed for rate aggregation/],
    ["query_range", '{job="a"} |~ "("', /error parsing regexp/],
    ["query_range", 'predict_linear({job="a"} | unwrap x [1m])', /the function predict_linear isn't offered/],
    [
      "query_range",
      'count_over_time({job="a"} | unwrap x [1m])',
      /invalid aggregation count_over_time with unwrap/,
    ],
    ["query_range", 'sort by (a) (rate({job="a"}[1m]))', /grouping is not allowed for sort/],
    ["query_range", "vector(1) + bool vector(1)", /unexpected IDENTIFIER/],
    ["query_range", "1 or 2", /unexpected literal for or/],
    ["query_range", 'label_replace(vector(1), "a-b", "", "c", ".*")', /invalid destination label name/],
    [
      "query_range",
      'sum by (host) (count_over_time({job="shop"}[1m])) / ignoring (host) sum(count_over_time({job="shop"}[1m]))',
      /multiple matches for labels \{\}: many-to-one matching must be explicit/,
    ],
    [
      "query_range",
      'vector(1) * ignoring (host) group_left sum by (host) (count_over_time({job="shop"}[1m]))',
      /found duplicate series for the match group \{\} on the right side/,
    ],
    ["query_range", TENFOLD, /label_replace makes a label of more than 32768 characters/],
    ["query_range", 'sum_over_time({job="a"}[1m])', /invalid aggregation sum_over_time without unwrap/],
    ["query", '{job="a"}', /log queries are not supported as an instant query type/],
    ["query_range", "", /the parameter query is missing/],
  ];
  for (const [path, query, message] of rows) {
    const { status, body } = await ask(path, { ...SPAN, query });
    assert.equal(status, 400, query);
    assert.match(body as unknown as string, message, query);
  }
  const fine = await ask("query_range", { ...SPAN, query: 'rate({job="a"}[1m])', step: "0.001" });
  assert.match(fine.body as unknown as string, /exceeded maximum resolution of 11,000 points/);
  const many = await ask("query_range", { ...SPAN, query: '{job="a"}', limit: "9000" });
  assert.match(many.body as unknown as string, /max entries limit per query exceeded/);
});
