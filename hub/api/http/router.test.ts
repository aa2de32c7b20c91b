import assert from "node:assert/strict";
import { test } from "node:test";
import type { Method } from "./request.ts";
import { empty, type Route } from "./route.ts";
import { Router } from "./router.ts";

function route(methods: readonly Method[], ...paths: string[]): Route {
  return { methods, paths, params: [], action: "monitor", summary: paths[0]!, handle: () => empty(200) };
}

const router = new Router([
  route(["GET"], "/"),
  route(["GET"], "/_cat/{table}"),
  route(["GET"], "/{index}"),
  route(["POST"], "/{index}/_refresh"),
  route(["PUT", "GET"], "/{index}/{type}/{id}"),
  route(["GET"], "/{index}/_source/{id}"),
]);

const FOUND: readonly (readonly [Method, string, string, object])[] = [
  ["GET", "/", "/", {}],
  ["GET", "//", "/", {}],
  ["GET", "/_cat/x", "/_cat/{table}", { table: "x" }],
  ["GET", "/a%2Fb/", "/{index}", { index: "a/b" }],
  ["POST", "/a/_refresh", "/{index}/_refresh", { index: "a" }],
  ["GET", "/a/_source/1", "/{index}/_source/{id}", { index: "a", id: "1" }],
  ["PUT", "/a/_source/1", "/{index}/{type}/{id}", { index: "a", type: "_source", id: "1" }],
  ["GET", "/_cat", "/{index}", { index: "_cat" }],
];

test("plain segments go before named ones unless the method is another's", () => {
  for (const [method, path, summary, segments] of FOUND) {
    const found = router.find(method, path);
    assert.equal(found.kind, "route", `${method} ${path}`);
    if (found.kind !== "route") continue;
    assert.equal(found.route.summary, summary);
    assert.deepEqual(found.path, segments);
  }
});

test("a known path names the methods of all routes that fit it", () => {
  assert.deepEqual(router.find("DELETE", "/a/_source/1"), { kind: "other_methods", allowed: ["GET", "PUT"] });
  assert.deepEqual(router.find("GET", "/a/b/c/d"), { kind: "nothing" });
});

test("segments that only other paths of a route have are absent, unless they are parameters of their own", () => {
  const paths = ["/_table", "/_table/{index}", "/{index}/{type}/_table"];
  const found = new Router([{ ...route(["GET"], ...paths), params: ["type"] }]).find("GET", "/_table");
  assert.ok(found.kind === "route");
  assert.deepEqual(found.absent, ["index"]);
  const deleting: Route = { ...route(["DELETE"], "/", "/{index}"), action: "index_delete" };
  const all = new Router([deleting]).find("DELETE", "/");
  assert.ok(all.kind === "route");
  assert.deepEqual(all.absent, [], "what changes something is told by its path");
});

test("two routes for the same are a mistake, found at the start", () => {
  assert.throws(
    () => new Router([route(["GET"], "/{a}"), route(["GET"], "/{b}")]),
    /two routes for GET \/\{b\}/,
  );
});
