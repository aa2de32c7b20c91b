import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { AccessControl } from "#hub/api/http/route.ts";
import { actionsOf, authorizeAll, isRole, ROLES, type Role } from "#hub/auth/accounts/principal.ts";
import { AppError } from "#proto/kit/errors.ts";
import { FakeHub } from "#test/support/api/fake-hub.ts";
import { clientOf } from "#test/support/api/http-client.ts";

/** Stands in the one document, and must be in no answer to who may not search. */
const SECRET = "only-for-readers-4711";

/** Takes the role from a header: what a role may is the table's own. */
const access: AccessControl = {
  authenticate({ headers }) {
    const role = String(headers["x-role"]);
    if (!isRole(role)) throw new AppError("unauthenticated", "no role");
    return Promise.resolve({
      kind: "user",
      id: role,
      name: role,
      role,
      actions: actionsOf(role),
      indices: ["*"],
    });
  },
  authorize: authorizeAll,
};

const hub = new FakeHub();
const search = clientOf(() => hub.server.addresses.http);
const dashboard = clientOf(() => hub.server.addresses.dashboard);

before(() => hub.start({ access }));
after(() => hub.stop());

const SEGMENTS: Readonly<Record<string, string>> = { index: "logs", type: "_doc", id: "1", alias: "logs" };
/** A body for any route, with everything that asks for documents. */
const BODIES = [
  { doc: { n: 1 }, _source: true },
  { query: { match_all: {} }, docs: [{ _index: "logs", _id: "1" }] },
  { source: { index: "logs" }, dest: { index: "copy" } },
];
const BULK = '{"update":{"_index":"logs","_id":"1","_source":true}}\n{"doc":{"n":2}}\n';

interface Operation {
  readonly method: string;
  readonly path: string;
  readonly isLines: boolean;
}

/** Every operation of the search interface, from its own description. */
async function operations(): Promise<Operation[]> {
  const { body } = await dashboard("GET", "/api/openapi.json", undefined, { "x-role": "admin" });
  return Object.entries(body["paths"]!).flatMap(([path, methods]) =>
    path.startsWith("/es/") && !path.includes("_stop")
      ? Object.entries(methods).map(([method, { requestBody }]) => ({
          method: method.toUpperCase(),
          path: path.slice("/es".length).replace(/\{(\w+)\}/g, (_, name: string) => SEGMENTS[name] ?? "x"),
          isLines: JSON.stringify(requestBody ?? {}).includes("x-ndjson"),
        }))
      : [],
  );
}

/** Returns the answers to `role` that have a document's content, of the operations whose path fits. */
async function shownTo(role: Role, paths: RegExp): Promise<string[]> {
  const shown: string[] = [];
  const asRole = { "x-role": role, "content-type": "application/json" };
  const asAdmin = { ...asRole, "x-role": "admin" };
  for (const { method, path, isLines } of await operations()) {
    if (method === "DELETE" || !paths.test(path)) continue;
    await search("PUT", "/logs/_doc/1", { secret: SECRET, n: 0 }, asAdmin);
    const hasBody = method !== "GET" && method !== "HEAD";
    const bodies = !hasBody ? [undefined] : isLines ? [BULK] : BODIES;
    for (const body of bodies) {
      const headers = isLines ? { ...asRole, "content-type": "application/x-ndjson" } : asRole;
      const url = /_update|_bulk/.test(path) ? `${path}?_source=true` : path;
      const { text } = await search(method, url, body, headers);
      if (text.includes(SECRET)) shown.push(`${method} ${path}: ${text.slice(0, 200)}`);
    }
  }
  return shown;
}

for (const role of ROLES.filter((each) => !actionsOf(each).has("search"))) {
  test(`no answer to ${role}, which may not search, has a document's content`, async () => {
    assert.deepEqual(await shownTo(role, /./), []);
  });
}

test("the same requests show a document to who may search", async () => {
  assert.ok((await shownTo("viewer", /_doc|_mget/)).length > 0);
});

for (const [role, method, path, body, allowed] of [
  ["ingest", "POST", "/logs/_delete_by_query", { query: { match_all: {} } }, false],
  ["editor", "POST", "/logs/_delete_by_query", { query: { match_all: {} } }, false],
  ["ingest", "POST", "/logs/_update_by_query", {}, false],
  ["ingest", "POST", "/_reindex", { source: { index: "logs" }, dest: { index: "copy" } }, false],
  ["ingest", "POST", "/logs/_doc/1/_update?_source=true", { doc: { n: 1 } }, false],
  ["ingest", "POST", "/logs/_doc/1/_update", { doc: { n: 1 }, _source: true }, false],
  ["ingest", "POST", "/logs/_doc/1/_update", { doc: { n: 1 } }, true],
  ["editor", "POST", "/logs/_doc/1/_update?_source=true", { doc: { n: 1 } }, true],
] as const) {
  test(`${role} ${allowed ? "may" : "may not"} ${method} ${path} ${JSON.stringify(body)}`, async () => {
    await search("PUT", "/logs/_doc/1", { secret: SECRET }, { "x-role": "admin" });
    const { status } = await search(method, path, body, { "x-role": role });
    assert.equal(status === 403, !allowed, String(status));
  });
}
