import assert from "node:assert/strict";
import { test } from "node:test";
import { pipelineWith, proposeGrok } from "./grok-proposal.ts";

/** Lines of a source, and what is proposed for them. */
const PROPOSALS: readonly (readonly [readonly string[], string])[] = [
  [
    [
      "2026-01-31 14:05:09,123 INFO [main] com.shop.Cart - opened",
      "2026-01-31 14:05:10,001 WARN [worker-2] com.shop.Stock - 3 left",
    ],
    "%{TIMESTAMP_ISO8601:timestamp} %{LOGLEVEL:level} \\[%{DATA:name}\\] %{GREEDYDATA:text}",
  ],
  [
    ["10.0.0.7 took=17 path=/cart ok", "10.0.0.8 took=3.5 path=/ ok"],
    "%{IP:client} took=%{NUMBER:took} path=%{UNIXPATH:path} ok",
  ],
  [["[2026-01-31T14:05:09Z] done (5)"], "\\[%{TIMESTAMP_ISO8601:timestamp}\\] %{GREEDYDATA:text}"],
  [["17 18", "19 20"], "%{NUMBER:number} %{NUMBER:number2}"],
  [[], "%{GREEDYDATA:text}"],
];

test("an expression names what lines have in common, the rest is one text", () => {
  for (const [lines, expression] of PROPOSALS) assert.equal(proposeGrok(lines), expression);
});

test("the pipeline of an expression reads its time", () => {
  assert.match(pipelineWith('%{TIMESTAMP_ISO8601:timestamp} "x"'), /%{TIMESTAMP_ISO8601:timestamp} \\"x\\""/);
  assert.match(pipelineWith("%{TIMESTAMP_ISO8601:timestamp}"), /match => \[timestamp, ISO8601\]/);
  assert.doesNotMatch(pipelineWith("%{IP:client}"), /date/);
});
