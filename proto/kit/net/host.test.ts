import assert from "node:assert/strict";
import { test } from "node:test";
import { plainHost, urlHost } from "./host.ts";

for (const [plain, inUrl] of [
  ["::1", "[::1]"],
  ["192.0.2.7", "192.0.2.7"],
  ["hub.example", "hub.example"],
] as const) {
  test(`${plain} is ${inUrl} in a URL`, () => {
    assert.deepEqual([urlHost(plain), plainHost(inUrl), plainHost(plain)], [inUrl, plain, plain]);
    assert.equal(new URL(`http://${urlHost(plain)}:9200`).hostname, inUrl);
  });
}
