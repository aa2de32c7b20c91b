import assert from "node:assert/strict";
import { test } from "node:test";
import type { ApiContext } from "#hub/api/context/api-context.ts";
import { ApiRequest } from "#hub/api/http/request.ts";
import { ANONYMOUS } from "#hub/auth/accounts/principal.ts";
import { mgetRoutes } from "./mget.ts";

test("_mget reads no further document when the client has gone away", async () => {
  const gone = new AbortController();
  const read: string[] = [];
  const documents = {
    get: async (_index: string, id: string) => {
      read.push(id);
      if (id === "2") gone.abort();
      return null;
    },
  };
  const indices = { get: () => undefined, resolve: () => [] };
  const [route] = mgetRoutes({ documents, indices } as unknown as ApiContext);
  const request = new ApiRequest({
    method: "POST",
    uri: "/lines/_mget",
    path: { index: "lines" },
    query: {},
    headers: {},
    ip: "127.0.0.1",
    body: Buffer.from('{"ids":["1","2","3","4"]}'),
    principal: ANONYMOUS,
    may: () => true,
    signal: gone.signal,
  });
  await assert.rejects(async () => route!.handle(request), { code: "cancelled" });
  assert.deepEqual(read, ["1", "2"]);
});
