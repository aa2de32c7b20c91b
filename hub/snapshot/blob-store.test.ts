import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { type TestContext, test } from "node:test";
import { S3Blobs } from "./blob-store.ts";

interface Bucket {
  readonly env: NodeJS.ProcessEnv;
  readonly objects: Map<string, Buffer>;
  readonly authorizations: string[];
}

/** The part of the interface that is used, two keys to a page. Doesn't check signatures. */
async function startBucket(t: TestContext): Promise<Bucket> {
  const objects = new Map<string, Buffer>();
  const authorizations: string[] = [];
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<unknown> => {
    const { pathname, searchParams } = new URL(request.url ?? "", "http://bucket");
    authorizations.push(request.headers.authorization ?? "");
    const key = decodeURIComponent(pathname);
    if (searchParams.has("list-type")) {
      const prefix = `/logs/${searchParams.get("prefix")}`;
      const all = [...objects.keys()].filter((each) => each.startsWith(prefix)).sort();
      const from = Number(searchParams.get("continuation-token") ?? 0);
      const rows = all
        .slice(from, from + 2)
        .map((each) => `<Contents><Key>${each.slice(6)}</Key></Contents>`);
      const next = from + 2 < all.length ? `<NextContinuationToken>${from + 2}</NextContinuationToken>` : "";
      return response.end(`<ListBucketResult>${rows.join("")}${next}</ListBucketResult>`);
    }
    if (key.includes("forbidden"))
      return response.writeHead(403).end("<Error><Code>AccessDenied</Code></Error>");
    if (request.method === "PUT") {
      objects.set(key, await buffer(request));
      return response.end();
    }
    if (request.method === "DELETE") {
      objects.delete(key);
      return response.writeHead(204).end();
    }
    const found = objects.get(key);
    return found === undefined ? response.writeHead(404).end() : response.end(found);
  };
  const server = createServer((request, response) => void answer(request, response)).listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  const env = {
    AWS_ENDPOINT_URL: `http://127.0.0.1:${port}`,
    AWS_ACCESS_KEY_ID: "id",
    AWS_SECRET_ACCESS_KEY: "secret",
    AWS_REGION: "eu-central-1",
  };
  return { env, objects, authorizations };
}

test("blobs are put, found, read and listed over several pages, below the prefix, signed", async (t) => {
  const { env, objects, authorizations } = await startBucket(t);
  const store = new S3Blobs("s3://logs/hubs/one/", env);
  for (const key of ["blobs/a", "blobs/b", "snapshots/c.json"]) await store.put(key, Buffer.from(key));
  assert.deepEqual([...objects.keys()].slice(0, 1), ["/logs/hubs/one/blobs/a"]);
  assert.deepEqual([await store.has("blobs/a"), await store.has("blobs/z")], [true, false]);
  assert.equal(Buffer.from(await store.get("blobs/b")).toString(), "blobs/b");
  assert.deepEqual(await store.list(""), ["blobs/a", "blobs/b", "snapshots/c.json"]);
  assert.deepEqual(await store.list("snapshots/"), ["snapshots/c.json"]);
  for (const key of ["blobs/a", "blobs/z"]) await store.remove(key);
  assert.deepEqual(await store.list("blobs/"), ["blobs/b"]);
  for (const each of authorizations)
    assert.match(each, /^AWS4-HMAC-SHA256 Credential=id\/\d{8}\/eu-central-1\/s3\/aws4_request/);
});

test("an error names the setting to check, and never the secret", async (t) => {
  const { env } = await startBucket(t);
  const store = new S3Blobs("s3://logs", env);
  await assert.rejects(store.get("missing"), { code: "not_found" });
  await assert.rejects(store.put("forbidden", Buffer.from("x")), (error: Error) => {
    assert.match(error.message, /^s3:\/\/logs answered 403 \(AccessDenied\) to PUT; check the bucket/);
    assert.doesNotMatch(error.message, /secret/);
    return true;
  });
  assert.throws(() => new S3Blobs("s3://", env), { code: "settings_invalid" });
  assert.throws(() => new S3Blobs("s3://logs", {}), {
    code: "settings_invalid",
    message: /AWS_ACCESS_KEY_ID/,
  });
});
