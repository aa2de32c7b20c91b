import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { FakeHub } from "#test/support/api/fake-hub.ts";
import { clientOf } from "#test/support/api/http-client.ts";

const hub = new FakeHub();
const send = clientOf(() => hub.server.addresses.http);

before(() => hub.start());
after(() => hub.stop());

for (const [method, path, why] of [
  ["POST", "/services/collector/event", /input of a pipeline \(intake, otlp/],
  ["POST", "/services/collector", /input of a pipeline \(intake, otlp/],
  ["POST", "/v1/logs", /input of a pipeline \(intake, otlp/],
  ["POST", "/loki/api/v1/push", /input of a pipeline \(intake, otlp/],
  ["PUT", "/api/v2/logs", /input of a pipeline \(intake, otlp/],
  ["POST", "/_ilm/move/logs", /moving an index to another step: not offered; .*origination_date/],
  ["POST", "/_ml/anomaly_detectors/x/_open", /machine learning: not offered/],
  ["GET", "/_security/user", /not offered; use the pages of administration/],
  ["POST", "/_watcher/watch/x/_execute", /watches: not offered; use alerts/],
] as const) {
  test(`${method} ${path} answers what to use instead, and makes no index`, async () => {
    const { status, body } = await send(method, path, { event: "a" });
    assert.equal(status, 501);
    assert.equal(body["error"]!["type"], "unsupported_operation_exception");
    assert.match(JSON.stringify(body["error"]), why);
    assert.deepEqual(hub.catalog.all(), []);
  });
}
