/**
 * The search interface, row by row as the specification prints it: every endpoint, every element of a search's body,
 * sent to a hub as a process of its own.
 */

import assert from "node:assert/strict";
import { request as httpRequest } from "node:http";
import { after, before, suite, test } from "node:test";
import { type Answer, request } from "#test/harness/http.ts";
import { startHub, type TestHub } from "#test/harness/hub.ts";
import { Workspace } from "#test/harness/workspace.ts";

interface Hit {
  readonly _id: string;
  readonly _source: Readonly<Record<string, unknown>>;
  readonly sort?: readonly number[];
  readonly highlight?: Readonly<Record<string, readonly string[]>>;
}
interface SearchAnswer {
  readonly hits: { readonly total: number; readonly hits: readonly Hit[] };
  readonly aggregations?: Readonly<
    Record<string, { readonly buckets: readonly { key: string; doc_count: number }[] }>
  >;
}
interface Written {
  readonly _id: string;
  readonly result: string;
}

const PLACES = [
  ["1", "12 Harbour Street, Seoul", 37.5665, 126.978, 10],
  ["2", "7 River Street, Busan", 35.1796, 129.0756, 50],
  ["3", "99 Old Market, Incheon", 37.4563, 126.7052, 90],
] as const;

suite("specification: search interface", () => {
  const workspace = new Workspace();
  let hub: TestHub;
  before(async () => {
    hub = await startHub({ dataDir: workspace.path("data", "hub"), settings: { "hub.threads": 2 } });
  });
  after(async () => {
    await hub.stop();
    await hub.destroy();
    await workspace.close();
  });

  const send = <T>(method: string, path: string, body?: unknown): Promise<Answer<T>> =>
    request<T>(method, hub.searchUrl + path, body);
  const search = async (body: unknown): Promise<SearchAnswer> => {
    const { status, body: answer } = await sendWithBody<SearchAnswer>(
      hub.searchUrl,
      "/places/_doc/_search",
      body,
    );
    assert.equal(status, 200, JSON.stringify(answer));
    return answer;
  };
  const idsOf = ({ hits }: SearchAnswer): string[] => hits.hits.map(({ _id }) => _id);
  const found = async (query: unknown): Promise<string[]> => idsOf(await search({ query })).sort();

  test("PUT /<index>/_mapping defines the fields", async () => {
    assert.equal(
      (await send("PUT", "/places", { settings: { number_of_shards: 2, number_of_replicas: 0 } })).status,
      200,
    );
    const properties = {
      business_address: { type: "text", fields: { keyword: { type: "keyword", ignore_above: 256 } } },
      coordinates: { type: "geo_point" },
      score: { type: "long" },
    };
    const { status, body } = await send("PUT", "/places/_mapping", { properties });
    assert.deepEqual([status, body], [200, { acknowledged: true }]);
    const shown = await send("GET", "/places/_mapping/_doc");
    assert.deepEqual(shown.body, { places: { mappings: { _doc: { properties } } } });
  });

  test("POST /<index>/_doc/_bulk creates several documents, action lines with bare keys", async () => {
    const lines = PLACES.map(
      ([id, address, lat, lon, score]) =>
        `{index: {_id: ${id}}}\n${JSON.stringify({ business_address: address, coordinates: { lat, lon }, score })}\n`,
    );
    const { status, body } = await send<{ errors: boolean; items: unknown[] }>(
      "POST",
      "/places/_doc/_bulk?refresh=true",
      lines.join(""),
    );
    assert.deepEqual([status, body.errors, body.items.length], [200, false, 3]);
  });

  test("GET /_search searches all indices", async () => {
    const { status, body } = await sendWithBody<SearchAnswer>(hub.searchUrl, "/_search", {
      query: { match_all: {} },
    });
    assert.deepEqual([status, body.hits.total], [200, 3]);
  });

  test("query.range, match, match_phrase and bool find the right documents", async () => {
    assert.deepEqual(await found({ range: { score: { gte: 50 } } }), ["2", "3"]);
    assert.deepEqual(await found({ match: { business_address: "street" } }), ["1", "2"]);
    assert.deepEqual(await found({ match_phrase: { business_address: "River Street" } }), ["2"]);
    assert.deepEqual(await found({ match_phrase: { business_address: "Street River" } }), []);
    const must = [{ match: { business_address: "street" } }, { range: { score: { gte: 5 } } }];
    const mustNot = [{ match: { business_address: "busan" } }];
    assert.deepEqual(await found({ bool: { must, must_not: mustNot } }), ["1"]);
    assert.deepEqual(await found({ term: { "business_address.keyword": PLACES[0][1] } }), ["1"]);
  });

  test("a range aggregation has the keys it was given", async () => {
    const ranges = [
      { key: "low", from: 0, to: 50 },
      { key: "high", from: 50, to: 100 },
    ];
    const { aggregations } = await search({
      query: { match_all: {} },
      aggregations: { scores: { range: { field: "score", ranges } } },
    });
    assert.deepEqual(
      aggregations!["scores"]!.buckets.map(({ key, doc_count: count }) => [key, count]),
      [
        ["low", 1],
        ["high", 2],
      ],
    );
  });

  test("_geo_distance sorts by kilometres", async () => {
    const sort = [
      { _geo_distance: { coordinates: { lat: 37.5665, lon: 126.978 }, order: "asc", unit: "km" } },
    ];
    const answer = await search({ query: { match_all: {} }, sort });
    assert.deepEqual(idsOf(answer), ["1", "3", "2"]);
    const distances = answer.hits.hits.map((hit) => Math.round(hit.sort![0]!));
    assert.deepEqual(distances, [0, 27, 325]);
  });

  test("highlight marks the matches", async () => {
    const query = { match: { business_address: "market" } };
    const { hits } = await search({ query, highlight: { fields: { business_address: {} } } });
    assert.deepEqual(hits.hits[0]!.highlight, { business_address: ["99 Old <em>Market</em>, Incheon"] });
  });

  test("POST /<index>/_doc makes an id, PUT /<index>/_doc/<id> takes one", async () => {
    const made = await send<Written>("POST", "/notes/_doc", { text: "one" });
    assert.deepEqual([made.status, made.body.result], [201, "created"]);
    assert.match(made.body._id, /^[\w-]{20}$/);
    const settings = { "index.number_of_shards": 1, "index.number_of_replicas": 0 };
    const given = await send<Written>("PUT", "/sized/_doc/7", { text: "seven", settings });
    assert.deepEqual([given.status, given.body._id], [201, "7"]);
    const shown = await send<Record<string, { settings: { index: Record<string, unknown> } }>>(
      "GET",
      "/sized/_settings",
    );
    const { number_of_shards: shards, number_of_replicas: replicas } = shown.body["sized"]!.settings.index;
    assert.deepEqual([shards, replicas], ["1", "0"]);
    assert.deepEqual((await send<Hit>("GET", "/sized/_doc/7")).body._source, { text: "seven" });
  });

  test("POST /<index>/_doc/<id>/_update changes the fields it is given", async () => {
    const { status, body } = await send<Written>("POST", "/sized/_doc/7/_update", {
      text: "changed",
      more: true,
      settings: { "index.number_of_replicas": 1 },
    });
    assert.deepEqual([status, body.result], [200, "updated"]);
    assert.deepEqual((await send<Hit>("GET", "/sized/_doc/7")).body._source, { text: "changed", more: true });
  });

  test("the sub-field keyword omits values longer than ignore_above 256, and the document is stored whole", async () => {
    const long = `${"x".repeat(256)}y`;
    const short = "z".repeat(256);
    for (const [id, address] of [
      ["long", long],
      ["short", short],
    ]) {
      const { status } = await send("PUT", `/places/_doc/${id}?refresh=true`, { business_address: address });
      assert.equal(status, 201);
    }
    assert.deepEqual(await found({ term: { "business_address.keyword": short } }), ["short"]);
    assert.deepEqual(await found({ term: { "business_address.keyword": long } }), []);
    assert.deepEqual(await found({ match: { business_address: long } }), ["long"]);
    assert.equal((await send<Hit>("GET", "/places/_doc/long")).body._source["business_address"], long);
  });

  test("PUT /<index>/_doc/<id> takes settings as a tree too, and writes an id again as its next version", async () => {
    const settings = { index: { number_of_shards: 3, number_of_replicas: 2 } };
    assert.equal((await send("PUT", "/treed/_doc/1", { n: 1, settings })).status, 201);
    const again = await send<{ result: string; _version: number }>("PUT", "/treed/_doc/1", {
      n: 2,
      settings,
    });
    assert.deepEqual([again.status, again.body.result, again.body._version], [200, "updated", 2]);
    const shown = await send<Record<string, Record<string, string>>>(
      "GET",
      "/treed/_settings?flat_settings=true",
    );
    const flat = shown.body["treed"]!["settings"] as unknown as Record<string, string>;
    assert.deepEqual([flat["index.number_of_shards"], flat["index.number_of_replicas"]], ["3", "2"]);
    assert.deepEqual((await send<Hit>("GET", "/treed/_doc/1")).body._source, { n: 2 });
  });

  test("POST /<index>/_doc/<id>/_update takes the fields below doc as well", async () => {
    const { status, body } = await send<Written>("POST", "/treed/_doc/1/_update", { doc: { m: "new" } });
    assert.deepEqual([status, body.result], [200, "updated"]);
    assert.deepEqual((await send<Hit>("GET", "/treed/_doc/1")).body._source, { n: 2, m: "new" });
  });

  test("GET /<index>/_analyze takes a tokenizer alone", async () => {
    const body = { tokenizer: "standard", text: "One, TWO one" };
    const { status, body: answer } = await sendWithBody<{ tokens: { token: string }[] }>(
      hub.searchUrl,
      "/places/_analyze",
      body,
    );
    assert.deepEqual([status, answer.tokens.map(({ token }) => token)], [200, ["One", "TWO", "one"]]);
  });

  test("GET /<index>/_analyze shows the tokens", async () => {
    const body = { tokenizer: "standard", filter: ["lowercase", "unique"], text: "The quick THE fox" };
    const { status, body: answer } = await sendWithBody<{
      tokens: { token: string; start_offset: number }[];
    }>(hub.searchUrl, "/places/_analyze", body);
    assert.equal(status, 200);
    assert.deepEqual(
      answer.tokens.map(({ token, start_offset: start }) => [token, start]),
      [
        ["the", 0],
        ["quick", 4],
        ["fox", 14],
      ],
    );
  });
});

/** A GET with a body, which fetch refuses to send. */
function sendWithBody<T>(url: string, path: string, body: unknown): Promise<{ status: number; body: T }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; body: T }>();
  const text = JSON.stringify(body);
  const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(text) };
  const sent = httpRequest(url + path, { method: "GET", headers, agent: false }, (response) => {
    let answer = "";
    response.setEncoding("utf8").on("data", (part: string) => {
      answer += part;
    });
    response.on("end", () => resolve({ status: response.statusCode ?? 0, body: JSON.parse(answer) as T }));
  });
  sent.on("error", reject);
  sent.end(text);
  return promise;
}
