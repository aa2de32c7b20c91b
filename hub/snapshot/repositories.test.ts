import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { silentLogger } from "#proto/kit/log.ts";
import { MemoryBucket } from "#test/support/kit/memory-bucket.ts";
import { Repositories } from "./repositories.ts";

const folder = mkdtempSync(join(tmpdir(), "repositories-"));
after(() => rmSync(folder, { recursive: true }));

const CREDENTIALS = { AWS_ACCESS_KEY_ID: "a", AWS_SECRET_ACCESS_KEY: "b" };
const repositories = new Repositories({
  bucket: new MemoryBucket(),
  log: silentLogger(),
  places: [join(folder, "first"), join(folder, "second"), "s3://logs/kept/"],
  env: CREDENTIALS,
});

for (const [type, settings, address] of [
  ["fs", { location: "daily" }, join(folder, "first/daily")],
  ["fs", { location: join(folder, "second") }, join(folder, "second")],
  ["s3", { bucket: "logs", base_path: "kept/a" }, "s3://logs/kept/a"],
] as const) {
  test(`a ${type} repository at ${JSON.stringify(settings)} lies below path.repo`, () => {
    assert.equal(repositories.open({ type, settings }).address, address);
  });
}

for (const [type, settings] of [
  ["fs", { location: "../third" }],
  ["fs", { location: folder }],
  ["fs", { location: join(folder, "second-one") }],
  ["s3", { bucket: "logs" }],
  ["s3", { bucket: "logs", base_path: "kept/../other" }],
  ["s3", { bucket: "logs", base_path: "kept-too" }],
] as const) {
  test(`a ${type} repository at ${JSON.stringify(settings)} is refused`, async () => {
    assert.throws(() => repositories.open({ type, settings }), { code: "forbidden" });
    await assert.rejects(repositories.put("r", { type, settings }), { code: "forbidden" });
    assert.equal(repositories.all().size, 0);
  });
}
