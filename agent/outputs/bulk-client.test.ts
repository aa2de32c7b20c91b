import assert from "node:assert/strict";
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { issueOwnCertificate } from "#test/harness/certificates.ts";
import { BulkClient } from "./bulk-client.ts";

test("authorities are read again when their file changes, and kept while it can't be used", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "tailrace-bulk-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const [first, second] = ["first", "second"].map((name) => issueOwnCertificate(folder, name, ["127.0.0.1"]));
  const pair = (files: typeof first) => ({
    cert: readFileSync(files!.certificate),
    key: readFileSync(files!.key),
  });
  const server = createServer(pair(first), (_request, response) => {
    response.setHeader("connection", "close");
    response.end('{"errors":false}');
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => server.close());
  const tlsCa = join(folder, "used.pem");
  copyFileSync(first!.certificate, tlsCa);
  const { port } = server.address() as AddressInfo;
  const faults: string[] = [];
  const client = new BulkClient({
    settings: { hosts: [`https://127.0.0.1:${port}`], index: "i", tlsCa },
    timeoutMs: 5_000,
    signal: new AbortController().signal,
    connections: 1,
    onFault: (error) => faults.push((error as Error).message),
  });
  t.after(() => client.close());
  const post = async (): Promise<number> => (await client.post(Buffer.from("{}\n"))).status;
  let nowMs = 0;
  t.mock.method(performance, "now", () => nowMs);
  /** Lets changed files settle after a request with those of before. */
  const settle = (): void => void (nowMs += 1_000);
  assert.equal(await post(), 200);
  server.setSecureContext(pair(second));
  await assert.rejects(post(), { code: "DEPTH_ZERO_SELF_SIGNED_CERT" });
  copyFileSync(second!.certificate, tlsCa);
  await assert.rejects(post(), { code: "DEPTH_ZERO_SELF_SIGNED_CERT" }, "it may be written further");
  settle();
  assert.equal(await post(), 200);
  assert.deepEqual(faults, []);
  writeFileSync(tlsCa, "");
  assert.equal(await post(), 200);
  settle();
  assert.equal(await post(), 200);
  writeFileSync(tlsCa, readFileSync(second!.certificate).subarray(0, 100));
  assert.equal(await post(), 200);
  settle();
  assert.equal(await post(), 200);
  rmSync(tlsCa);
  assert.equal(await post(), 200);
  settle();
  assert.equal(await post(), 200);
  assert.deepEqual(
    faults.map((fault) => /no certificate|ENOENT/.exec(fault)?.[0]),
    ["no certificate", "no certificate", "ENOENT"],
  );
});
