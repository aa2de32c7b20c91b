import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import type { Cluster } from "#hub/api/ports/cluster.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { Metrics } from "#proto/kit/metrics.ts";
import { DOCS, type Json, SearchRoutesFixture } from "#test/support/api/search-routes.ts";
import { ScrollContexts } from "./scroll-contexts.ts";

const fixture = new SearchRoutesFixture();
after(() => fixture.close());

const sources = (body: Json): unknown[] =>
  Array.from(body["hits"]!["hits"]! as unknown as Json[], (hit) => hit["_source"]);

describe("a scroll", () => {
  test("pages through a snapshot, keeps its total and is closed", async () => {
    const first = await fixture.send("POST", "/logs/_search?scroll=1m&size=2", { sort: ["status"] });
    assert.equal(first.body["hits"]!["hits"]!.length, 2);
    const id = first.body["_scroll_id"];
    const second = await fixture.send("POST", "/_search/scroll", { scroll: "1m", scroll_id: id });
    assert.deepEqual(sources(second.body), [DOCS[2]]);
    assert.equal(second.body["hits"]!["total"], 3);
    for (let page = 0; page < 2; page++) {
      const empty = await fixture.send("GET", `/_search/scroll/${JSON.stringify(id).replaceAll('"', "")}`);
      assert.deepEqual(
        [empty.body["hits"]!["hits"]!.length, empty.body["hits"]!["total"], empty.body["_shards"]!["total"]],
        [0, 3, 2],
      );
    }
    assert.deepEqual((await fixture.send("DELETE", "/_search/scroll", { scroll_id: [id] })).body, {
      succeeded: true,
      num_freed: 1,
    });
    const again = await fixture.send("DELETE", "/_search/scroll", { scroll_id: id });
    assert.deepEqual([again.status, again.body], [404, { succeeded: true, num_freed: 0 }]);
    const gone = await fixture.send("GET", "/_search/scroll", { scroll_id: id });
    assert.equal(gone.status, 404);
    assert.equal(gone.body["error"]!["root_cause"]![0]!["type"], "search_context_missing_exception");
    assert.equal(gone.body["error"]!["type"], "search_phase_execution_exception");
  });

  test("is counted for its index and its groups while it is open, as a point in time is", async () => {
    const counts = fixture.counters.of(fixture.logs.shards[0]!.index.uuid);
    const current = (): number[] => {
      const group = counts.groups.get("pages")?.scrolling.current ?? 0;
      return [counts.contexts.current, counts.scrolling.current, group];
    };
    const { total } = counts.scrolling;
    const { body } = await fixture.send("POST", "/logs/_search?scroll=1m", { stats: "pages" });
    const point = await fixture.send("POST", "/logs/_pit?keep_alive=1m", undefined, "7.10.2");
    assert.deepEqual(current(), [2, 1, 1]);
    await fixture.send("DELETE", "/_search/scroll", { scroll_id: body["_scroll_id"] });
    await fixture.send("DELETE", "/_pit", { id: point.body["id"] }, "7.10.2");
    assert.deepEqual(current(), [0, 0, 0]);
    await fixture.send("POST", "/logs/_search?scroll=1m", { sort: ["x"] });
    assert.deepEqual([...current(), counts.scrolling.total - total], [0, 0, 0, 2]);
  });

  test("whose first page fails leaves nothing open", async () => {
    await fixture.send("POST", "/logs/_search?scroll=1m", { sort: ["x"] });
    assert.deepEqual((await fixture.send("DELETE", "/_search/scroll/_all")).body, {
      succeeded: true,
      num_freed: 0,
    });
  });
});

describe("a preference for shards", () => {
  test("searches and counts them alone", async () => {
    const counts: number[] = [];
    for (const shard of [0, 1]) {
      const { body: counted } = await fixture.send("GET", `/logs/_count?preference=_shards:${shard}`);
      const { body } = await fixture.send("GET", `/logs/_search?preference=_shards:${shard}|_local`);
      assert.deepEqual([counted["_shards"]!["total"], body["_shards"]!["total"]], [1, 1]);
      assert.equal(body["hits"]!["total"], counted["count"]);
      counts.push(Number(counted["count"]));
    }
    assert.equal(counts[0]! + counts[1]!, DOCS.length);
    const { body: none } = await fixture.send("GET", "/logs/_search?preference=_shards:7");
    assert.deepEqual([none["_shards"]!["total"], none["hits"]!["total"]], [0, 0]);
  });

  test("counts in each search of _msearch and in a scroll", async () => {
    const lines = [{ index: "logs", preference: "_shards:0" }, {}];
    const text = lines.map((line) => `${JSON.stringify(line)}\n`).join("");
    const { body } = await fixture.send("POST", "/_msearch", text);
    assert.equal(body["responses"]![0]!["_shards"]!["total"], 1);
    const scroll = await fixture.send("POST", "/logs/_search?scroll=1m&preference=_shards:1", {});
    assert.equal(scroll.body["_shards"]!["total"], 1);
    await fixture.send("DELETE", "/_search/scroll/_all");
  });
});

describe("_msearch", () => {
  test("answers each search by itself", async () => {
    const lines = [
      { index: "logs" },
      { query: { match_all: {} }, size: 1 },
      {},
      { from: 10_000, size: 10 },
      { index: ["nothing"] },
      {},
      { type: "line" },
      {},
    ];
    const { status, body } = await fixture.send(
      "POST",
      "/_msearch",
      `${lines.map((line) => JSON.stringify(line)).join("\n")}\n`,
    );
    assert.equal(status, 200);
    const responses = Array.from(body["responses"]! as unknown as Json[]);
    assert.deepEqual(
      responses.map((each) => each["status"]),
      [200, 500, 404, 200],
    );
    assert.equal(responses[0]!["hits"]!["total"], 3);
    assert.equal(responses[1]!["error"]!["root_cause"]![0]!["type"], "query_phase_execution_exception");
    assert.equal(responses[3]!["hits"]!["total"], 1);
  });

  test("has the time that it took only from 7 on, and checks its headers", async () => {
    const send = (header: object, uri = "/_msearch", version?: string) =>
      fixture.send("POST", uri, `${JSON.stringify(header)}\n{"size":-1}\n`, version);
    assert.deepEqual(Object.keys((await send({ index: "logs" })).body), ["responses"]);
    const later = await fixture.send("POST", "/_msearch", '{"index":"logs"}\n{}\n', "7.10.2");
    assert.deepEqual(Object.keys(later.body), ["took", "responses"]);
    const type = await send({ index: "logs", search_type: "count" });
    assert.deepEqual([type.status, type.body["error"]!["reason"]], [400, "No search type for [count]"]);
    const none = await send({ index: "logs" }, "/_msearch?max_concurrent_searches=0");
    assert.equal(none.body["error"]!["reason"], "maxConcurrentSearchRequests must be positive");
    const source = { source: { size: "{{s}}" }, params: { s: -1 } };
    const made = await fixture.send("POST", "/logs/_msearch/template", `{}\n${JSON.stringify(source)}\n`);
    assert.equal(made.body["responses"]![0]!["hits"]!["total"], 3);
  });

  test("refuses a template whose search counts up to a limit, where clients want a plain total", async () => {
    const source = { source: { track_total_hits: "{{n}}" }, params: { n: 1 } };
    const uri = "/logs/_msearch/template?rest_total_hits_as_int=true";
    const { body } = await fixture.send("POST", uri, `{}\n${JSON.stringify(source)}\n`, "7.10.2");
    assert.match(
      JSON.stringify(body["responses"]![0]!["error"]!["root_cause"]),
      /\[rest_total_hits_as_int\] cannot be used if the tracking of total hits is not accurate, got 1/,
    );
  });

  test("fails as a whole if one of its searches can't be read, as the 6.5.4 server does", async () => {
    for (const [search, reason] of [
      [{ query: { unknownq: {} } }, "no [query] registered for [unknownq]"],
      [{ bogus: 2 }, "Unknown key for a VALUE_NUMBER in [bogus]."],
    ] as const) {
      const lines = [{ index: "logs" }, { size: 0 }, {}, search].map((line) => `${JSON.stringify(line)}\n`);
      const { status, body } = await fixture.send("POST", "/_msearch", lines.join(""));
      assert.deepEqual([status, body["error"]!["reason"]], [400, reason]);
    }
  });

  test("takes -1 as a size or a start for the default", async () => {
    const { body } = await fixture.send("POST", "/logs/_msearch", '{}\n{"size":-1,"from":-1}\n');
    assert.equal(body["responses"]![0]!["hits"]!["hits"]!.length, 3);
    const search = await fixture.send("POST", "/logs/_search?size=-1", { from: -1 });
    assert.equal(search.body["hits"]!["hits"]!.length, 3);
  });

  test("a text that isn't an id of a scroll can't be parsed, an ended scroll isn't found", async () => {
    const ended = `${"a".repeat(22)}.${"b".repeat(32)}`;
    for (const [id, next, clear] of [
      ["abc", 400, 400],
      [ended, 404, 404],
    ] as const) {
      const answers = [
        await fixture.send("POST", "/_search/scroll", { scroll_id: id }),
        await fixture.send("DELETE", "/_search/scroll", { scroll_id: [id] }),
      ];
      assert.deepEqual(
        answers.map(({ status }) => status),
        [next, clear],
      );
    }
  });

  test("_validate/query and _explain refuse a body without a query", async () => {
    const { body } = await fixture.send("POST", "/logs/_validate/query", {});
    assert.equal(body["error"]!["reason"], "Validation Failed: 1: query cannot be null;");
    const explained = await fixture.send("POST", "/logs/_doc/1/_explain", {});
    assert.equal(explained.body["error"]!["reason"], "Validation Failed: 1: query is missing;");
  });

  test("takes an empty header line and refuses a missing newline and an empty body", async () => {
    const { body } = await fixture.send("GET", "/logs/_msearch", '\n{"size":0}\n');
    assert.equal(body["responses"]![0]!["hits"]!["total"], 3);
    for (const text of ['{}\n{"size":0}', "", "{}\n", "[]\n{}\n"])
      assert.equal((await fixture.send("POST", "/_msearch", text)).status, 400, text);
  });
});

describe("the others", () => {
  test("_count counts by body, parameter and limits", async () => {
    assert.deepEqual((await fixture.send("GET", "/logs/_count")).body, {
      count: 3,
      _shards: { total: 2, successful: 2, skipped: 0, failed: 0 },
    });
    assert.equal(
      (await fixture.send("POST", "/logs/_count", { query: { term: { host: "web-1" } } })).body["count"],
      2,
    );
    assert.equal((await fixture.send("GET", "/bad/_count?q=web-1")).body["count"], 1);
    assert.equal((await fixture.send("GET", "/logs/_count?min_score=100")).body["count"], 0);
    const { status, body } = await fixture.send("POST", "/logs/_count", { match_all: {} });
    assert.equal(status, 400);
    assert.match(JSON.stringify(body["error"]!["reason"]), /request does not support \[match_all\]/);
  });

  test("_validate says whether a query is right and why not", async () => {
    assert.equal((await fixture.send("GET", "/logs/_validate/query?q=a")).body["valid"], true);
    assert.deepEqual(
      (await fixture.send("GET", "/logs/_validate/query", { query: { invalid_query: {} } })).body,
      {
        valid: false,
      },
    );
    assert.deepEqual(
      (await fixture.send("GET", "/logs/_validate/query?explain=true", { query: { trem: {} } })).body,
      {
        valid: false,
        error: "org.elasticsearch.common.ParsingException: no [query] registered for [trem]",
      },
    );
    const wrong = await fixture.send("GET", "/logs/_validate/query?explain=true", {
      query: { range: { status: { gte: "x" } } },
    });
    assert.equal(wrong.body["valid"], false);
    assert.match(JSON.stringify(wrong.body["explanations"]![0]!["error"]), /For input string/);
    assert.equal(
      (await fixture.send("GET", "/logs/_validate/query?explain=true")).body["explanations"]![0]![
        "explanation"
      ],
      "*:*",
    );
  });

  test("_explain gives the score of one document", async () => {
    const { status, body } = await fixture.send("POST", "/logs/_doc/1/_explain", {
      query: { constant_score: { filter: { term: { status: 404 } }, boost: 2 } },
    });
    assert.deepEqual([status, body["matched"], body["explanation"]!["value"]], [200, true, 2]);
    assert.equal(
      (await fixture.send("POST", "/logs/_doc/0/_explain", { query: { term: { status: 404 } } })).body[
        "matched"
      ],
      false,
    );
    assert.equal(
      (await fixture.send("POST", "/logs/_doc/99/_explain", { query: { match_all: {} } })).status,
      404,
    );
    const other = await fixture.send("POST", "/logs/other/1/_explain", { query: { match_all: {} } });
    assert.deepEqual([other.status, other.body["_type"], other.body["matched"]], [404, "other", false]);
  });

  test("_explain finds a hidden index by a pattern if expand_wildcards says so", async () => {
    const hidden = new SearchRoutesFixture({ settings: { hidden: "true" } });
    const query = { query: { match_all: {} } };
    const explained = (path: string) => hidden.send("POST", path, query);
    try {
      for (const states of ["hidden", "open,hidden", "all"])
        assert.equal(
          (await explained(`/log*/_doc/1/_explain?expand_wildcards=${states}`)).status,
          200,
          states,
        );
      assert.equal((await explained("/log*/_doc/1/_explain")).status, 404);
    } finally {
      hidden.close();
    }
  });

  test("_field_caps tells types and conflicts of types apart", async () => {
    const { body } = await fixture.send("GET", "/_field_caps?fields=status,host,_id,message");
    assert.deepEqual(body["fields"]!["host"], {
      keyword: { type: "keyword", searchable: true, aggregatable: true },
    });
    assert.deepEqual(body["fields"]!["status"], {
      long: { type: "long", searchable: true, aggregatable: true, indices: ["logs"] },
      text: { type: "text", searchable: true, aggregatable: false, indices: ["other"] },
    });
    assert.deepEqual(body["fields"]!["_id"], { _id: { type: "_id", searchable: true, aggregatable: true } });
    const inner = await fixture.send("GET", "/logs/_field_caps?fields=_*");
    assert.deepEqual(
      Object.keys(inner.body["fields"]!).sort(),
      "_all _field_names _id _ignored _index _parent _routing _seq_no _source _type _uid _version".split(" "),
    );
    assert.equal((await fixture.send("GET", "/_field_caps")).status, 400);
  });

  test("_field_caps names the indices without a field where that is asked for", async () => {
    const { body } = await fixture.send("GET", "/_field_caps?fields=host&include_unmapped=true");
    const unmapped = { type: "unmapped", searchable: false, aggregatable: false, indices: ["other"] };
    assert.deepEqual(body["fields"]!["host"]!["unmapped"], unmapped);
    assert.deepEqual(body["fields"]!["host"]!["keyword"]!["indices"], ["logs"]);
  });

  test("_field_caps shows fields that the request defines in place of those of its indices", async () => {
    const { body } = await fixture.send("POST", "/_field_caps?fields=status,host,taken", {
      runtime_mappings: { status: { type: "keyword" }, taken: { type: "long", script: "emit(1)" } },
    });
    const capable = { searchable: true, aggregatable: true };
    assert.deepEqual(body["fields"]!["status"], { keyword: { type: "keyword", ...capable } });
    assert.deepEqual(body["fields"]!["taken"], { long: { type: "long", ...capable } });
    assert.equal(Object.keys(body["fields"]!).length, 3);
    const runtime = { taken: { type: "text" } };
    const refused = await fixture.send("POST", "/_field_caps?fields=taken", { runtime_mappings: runtime });
    assert.equal(refused.status, 400);
  });

  test("_search_shards says where a search would run", async () => {
    const { body } = await fixture.send("GET", "/bad/_search_shards");
    assert.equal(body["shards"]!.length, 2);
    assert.deepEqual(body["indices"], {
      logs: { aliases: ["bad"], filter: { range: { status: { gte: 400 } } } },
    });
  });
});

/** A cluster of one hub, or of several as the first one sees it. */
function clusterOf(...names: readonly string[]): Pick<Cluster, "nodes"> {
  const addresses = { host: "", httpAddress: "", transportAddress: "" };
  return {
    nodes: () =>
      names.map((name) => ({ id: `id-${name}`, name, attributes: {}, master: false, ...addresses })),
  };
}

const CLUSTER = clusterOf("a");

test("a scroll that another hub has opened is missing here, and that hub is named", () => {
  const [first, second] = [clusterOf("a", "b"), clusterOf("b", "a")].map(
    (cluster) => new ScrollContexts(new Metrics(), cluster),
  );
  const id = first!.open({ closeContexts: () => undefined }, { owner: "user ann", names: [] }, 60_000);
  const reason = (error: unknown): string => (error as { cause: Error }).cause.message;
  assert.throws(
    () => second!.take(id, "user ann", undefined),
    (error) => /it was opened through the hub a, which alone has it/.test(reason(error)),
  );
  assert.equal(first!.close([id], "user ann"), 1);
  assert.throws(
    () => first!.take(id, "user ann", undefined),
    (error) => reason(error) === `No search context found for id [${id}]`,
  );
});

test("scrolls beyond the limit are refused with 429, and a stop closes all", async () => {
  const full = new ScrollContexts(new Metrics(), CLUSTER);
  const shards = { closeContexts: () => undefined };
  for (let count = 0; count < 250; count++) full.open(shards, { owner: "user test", names: [] }, 60_000);
  assert.throws(
    () => full.open(shards, { owner: "user test", names: [] }, 60_000),
    (error) => error instanceof AppError && error.status === 429,
  );
  for (let count = 250; count < 500; count++)
    full.open(shards, { owner: `user ${count}`, names: [] }, 60_000);
  assert.throws(() => full.open(shards, { owner: "user ann", names: [] }, 60_000), { code: "overloaded" });
  full.stop();
  full.open(shards, { owner: "user test", names: [] }, 60_000);
  full.stop();
});

test("a scroll is its opener's: others can't read on nor close it", () => {
  const scrolls = new ScrollContexts(new Metrics(), CLUSTER);
  let closed = 0;
  const shards = { closeContexts: () => void closed++ };
  const id = scrolls.open(shards, { owner: "user ann", names: [] }, 60_000);
  scrolls.made(id);
  assert.throws(() => scrolls.take(id, "user bob", undefined), /all shards failed/);
  assert.equal(scrolls.close([id], "user bob"), 0);
  assert.equal(scrolls.close(["_all"], "user bob"), 0);
  assert.equal(closed, 0);
  assert.equal(scrolls.take(id, "user ann", undefined).owner, "user ann");
  assert.equal(scrolls.close(["_all"], "user ann"), 1);
  assert.equal(closed, 1);
});

test("a scroll's time begins when a page is made, however long that took", (t) => {
  let nowMs = 0;
  t.mock.method(performance, "now", () => nowMs);
  const scrolls = new ScrollContexts(new Metrics(), CLUSTER);
  const shards = { closeContexts: () => undefined };
  const open = (): string => scrolls.open(shards, { owner: "user ann", names: [] }, 30_000);
  const id = open();
  nowMs = 40_000;
  scrolls.made(id);
  nowMs = 69_000;
  open(); // closes those whose time is over
  scrolls.take(id, "user ann", 20_000).busy = true;
  nowMs = 200_000;
  open();
  scrolls.made(id);
  nowMs = 219_000;
  open();
  scrolls.take(id, "user ann", undefined);
  nowMs = 220_000;
  open();
  assert.throws(() => scrolls.take(id, "user ann", undefined), /all shards failed/);
  scrolls.stop();
});

test("a script that doesn't compile is a failure of all shards", async () => {
  for (const body of [
    { script_fields: { f: { script: "while (true) {}" } } },
    { query: { script: { script: "while (true) {}" } } },
    { aggs: { a: { max: { script: "while (true) {}" } } } },
  ]) {
    const { status, body: answer } = await fixture.send("POST", "/logs/_search", body);
    const { root_cause: roots, type, reason, failed_shards: shards } = answer["error"]!;
    assert.deepEqual(
      [status, type, reason, roots![0]!["type"], roots![0]!["reason"], shards!.length],
      [400, "search_phase_execution_exception", "all shards failed", "script_exception", "compile error", 1],
    );
    const { index, reason: why } = shards![0]!;
    assert.deepEqual(
      [index, why!["type"], why!["script"], why!["lang"], why!["caused_by"]!["reason"]],
      ["logs", "script_exception", "while (true) {}", "painless", "While loop has no escape."],
    );
  }
  const scroll = await fixture.send("POST", "/logs/_search?scroll=1m", {
    query: { script: { script: "1 +" } },
  });
  assert.equal(scroll.body["error"]!["type"], "search_phase_execution_exception");
});

test("a template that ends too early says so, or what is wrong with its query", async () => {
  for (const [source, type] of [
    ['{"query": {"match": {', "json_e_o_f_exception"],
    ['{"query": {"{{kind}}": {}}', "parsing_exception"],
    ['{"query": {"match_all": {}}', "json_e_o_f_exception"],
  ]) {
    const { body } = await fixture.send("POST", "/logs/_search/template", {
      source,
      params: { kind: "none" },
    });
    assert.equal(body["error"]!["root_cause"]![0]!["type"], type, source);
  }
});

test("search.allow_expensive_queries refuses queries that walk many terms or documents", async (t) => {
  fixture.settings = { "search.allow_expensive_queries": "false" };
  t.after(() => {
    fixture.settings = {};
  });
  const refused: readonly (readonly [string, JsonObject])[] = [
    ["[prefix] queries", { prefix: { host: "web" } }],
    ["[prefix] queries", { query_string: { query: "host:web*" } }],
    ["[prefix] queries", { query_string: { query: "host:w\\*b*" } }],
    ["[prefix] queries", { simple_query_string: { query: "web*", fields: ["host"] } }],
    ["[wildcard] queries", { query_string: { query: "host:w?b*" } }],
    ["[wildcard] queries", { query_string: { query: "host:web*1" } }],
    ["[prefix] queries", { match_bool_prefix: { message: "get a" } }],
    ["[wildcard] queries", { wildcard: { host: "w*b-?" } }],
    ["[regexp] queries", { regexp: { host: "web-[0-9]" } }],
    ["[fuzzy] queries", { fuzzy: { host: "wab-1" } }],
    ["[fuzzy] queries", { match: { message: { query: "gat", fuzziness: 1 } } }],
    ["[fuzzy] queries", { span_multi: { match: { fuzzy: { message: "gat" } } } }],
    ["[range] queries on [text] or [keyword] fields", { range: { host: { gt: "web" } } }],
    ["[joining] queries", { nested: { path: "p", query: { match_all: {} }, ignore_unmapped: true } }],
    ["[script] queries", { script: { script: "true" } }],
    ["[script score] queries", { script_score: { query: { match_all: {} }, script: "1" } }],
  ];
  for (const [what, query] of refused) {
    for (const [path, whole] of [
      ["_search", { query: { bool: { filter: [query] } } }],
      ["_count", { query }],
    ] as const) {
      const { status, body } = await fixture.send("POST", `/logs/${path}`, whole);
      const { type, reason } = body["error"]!["root_cause"]![0]!;
      assert.deepEqual([status, type], [400, "query_shard_exception"], `${path} ${what}`);
      const start = `failed to create query: ${what} cannot be executed when 'search.allow_expensive_queries' is`;
      assert.ok(JSON.stringify(reason).startsWith(JSON.stringify(start).slice(0, -1)), start);
    }
  }
  for (const query of [
    { match: { message: "get" } },
    { range: { status: { gte: 200 } } },
    { match_phrase_prefix: { message: "get" } },
    { terms: { host: ["web-1"] } },
  ]) {
    const { status } = await fixture.send("POST", "/logs/_search", { query });
    assert.equal(status, 200, JSON.stringify(query));
  }
});

test("search.allow_expensive_queries refuses queries on runtime fields, but not their aggregations and sorts", async (t) => {
  const runtime_mappings = { taken: { type: "long", script: "emit(1)" }, host: { type: "keyword" } };
  const search = (body: JsonObject) => fixture.send("POST", "/logs/_search", { runtime_mappings, ...body });
  const queries = [
    { term: { taken: 1 } },
    { range: { taken: { gte: 1 } } },
    { exists: { field: "taken" } },
    { terms: { host: ["web-1"] } },
    { match: { host: "web-1" } },
    { query_string: { query: "1", fields: ["taken"] } },
    { bool: { must_not: [{ exists: { field: "ta*" } }] } },
  ];
  for (const query of queries) assert.equal((await search({ query })).status, 200, JSON.stringify(query));
  fixture.settings = { "search.allow_expensive_queries": "false" };
  t.after(() => {
    fixture.settings = {};
  });
  for (const query of queries) {
    const { status, body } = await search({ query });
    assert.equal(status, 400, JSON.stringify(query));
    assert.deepEqual(body["error"]!["root_cause"]![0]!["reason"], REFUSED_FIELD);
  }
  const aggs = { by: { terms: { field: "host" } }, none: { missing: { field: "taken" } } };
  const { status } = await search({
    query: { match: { message: "get" } },
    sort: ["taken"],
    fields: ["taken"],
    aggs,
  });
  assert.equal(status, 200);
});

const REFUSED_FIELD =
  "failed to create query: queries cannot be executed against runtime fields while [search.allow_expensive_queries] is set to [false].";

test("_index is an alias as well from 7 on", async () => {
  const count = async (query: JsonObject, version: string): Promise<unknown> =>
    (await fixture.send("POST", "/_count", { query }, version)).body["count"];
  for (const query of [{ term: { _index: "all" } }, { terms: { _index: ["none", "a*"] } }]) {
    assert.equal(await count(query, "7.10.2"), DOCS.length);
    assert.equal(await count(query, "6.5.4"), 0);
  }
  assert.equal(await count({ term: { _index: "none" } }, "7.10.2"), 0);
});
