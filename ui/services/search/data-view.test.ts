import assert from "node:assert/strict";
import { test } from "node:test";
import { LogDocument } from "#ui/services/search/log-document.ts";
import { dataViewId, readFormats } from "./data-view.ts";

test("each pattern has an id of its own that the hub takes", () => {
  assert.equal(dataViewId("logs-*"), "logs-_2a");
  assert.notEqual(dataViewId("logs_*"), dataViewId("logs-*"));
  assert.match(dataViewId("logs-web*,audit.ä"), /^[A-Za-z0-9_-]+$/);
  const long = Array.from({ length: 30 }, (_, number) => `logs-${number}-*`).join(",");
  assert.match(dataViewId(long), /^[A-Za-z0-9_-]{1,100}$/);
  assert.equal(dataViewId(long), dataViewId(long));
  assert.notEqual(dataViewId(long), dataViewId(`${long},audit`));
});

test("formats are read as far as they are right", () => {
  const formats = readFormats({
    formats: {
      size: { kind: "bytes" },
      took: { kind: "duration", unit: "ms" },
      wrong: { kind: "duration", unit: "weeks" },
      ticket: { kind: "link", template: "https://tickets.example/{value}" },
      script: { kind: "link", template: "javascript:alert({value})" },
      none: { kind: "moon" },
    },
  });
  assert.deepEqual([...formats.keys()], ["size", "took", "ticket"]);
  assert.equal(readFormats({}).size, 0);
  assert.equal(readFormats({ formats: 5 }).size, 0);
});

test("a document shows its fields in the formats of its pattern", () => {
  const formats = readFormats({
    formats: {
      size: { kind: "bytes" },
      took: { kind: "duration", unit: "s" },
      duration_ms: { kind: "plain" },
      ticket: { kind: "link", template: "https://tickets.example/{value}?a=1" },
    },
  });
  const source = { size: 123_456, took: 90, duration_ms: 1_500, ticket: "A 7/ü", "@timestamp": 0 };
  const line = new LogDocument({ _index: "i", _id: "1", _source: source }, formats);
  assert.equal(line.rowText("size"), "123 kB");
  assert.equal(line.rowText("took"), "1 min 30 s");
  assert.equal(line.rowText("duration_ms"), "1500");
  assert.deepEqual(line.formatted("ticket"), {
    text: "A 7/ü",
    href: "https://tickets.example/A%207%2F%C3%BC?a=1",
  });
  assert.equal(new LogDocument({ _index: "i", _id: "1", _source: source }).rowText("duration_ms"), "1.5 s");
});
