import assert from "node:assert/strict";
import { test } from "node:test";
import { isLocalReach } from "./access-client.ts";

const NATS = "nats://192.0.2.7:4222";
const REACHES: readonly (readonly [dashboard: string, nats: readonly string[], isLocal: boolean])[] = [
  ["http://127.0.0.1:5601", ["nats://127.0.0.1:4222"], true],
  ["http://localhost:5601", [NATS], true],
  ["http://[::1]:5601", [NATS], true],
  ["https://logs.example", ["nats://127.0.0.1:4222"], true],
  ["https://logs.example", [NATS], false],
  ["https://logs.example", [], false],
];

test("other machines reach a hub only where neither dashboard nor NATS is on loopback", () => {
  for (const [dashboard, nats, isLocal] of REACHES)
    assert.equal(isLocalReach({ dashboard, nats }), isLocal, `${dashboard} ${nats.join()}`);
});
