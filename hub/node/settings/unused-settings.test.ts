import assert from "node:assert/strict";
import { test } from "node:test";
import { loadHubSettings } from "./hub-settings.ts";
import { hubCompatibility, unusedSettings } from "./unused-settings.ts";

for (const [overrides, names] of [
  [[], []],
  [["transport.port=0"], []],
  [["discovery.seed_hosts=[other:9300]", "transport.port=9301", "nats.route_port=6223"], []],
  [
    ["cluster.secret=x", "nats.route_port=6223"],
    ["cluster.secret", "nats.route_port"],
  ],
  [
    ["transport.port=9301", "transport.host=127.0.0.1"],
    ["transport.port", "transport.host"],
  ],
  [["nats.token=secret"], ["nats.token"]],
  [["nats.servers=[nats://log:4222]", "nats.token=secret"], []],
  [
    ["nats.servers=[nats://log:4222]", "nats.host=127.0.0.1", "nats.port=0"],
    ["nats.host", "nats.port"],
  ],
  [["tls.ca=ca.pem"], ["tls.ca"]],
] as const) {
  test(`${overrides.join(" ") || "the defaults"}: ${names.join(", ") || "nothing"} is without effect`, () => {
    const found = unusedSettings(loadHubSettings({ file: undefined, overrides }, {}));
    assert.deepEqual(
      found.map((text) => text.split(":", 1)[0]),
      names,
    );
    const listed = hubCompatibility().map(({ name }) => name);
    assert.ok(names.every((name) => listed.includes(name)));
  });
}
