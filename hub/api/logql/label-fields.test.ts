import assert from "node:assert/strict";
import { test } from "node:test";
import type { IndexInfo } from "#hub/api/ports/indices.ts";
import { Analysis } from "#hub/engine/analysis/analysis.ts";
import { Mapping } from "#hub/engine/mapping/mapping.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { LabelFields } from "./label-fields.ts";

test("lines can be searched for their words only where the built-in standard analyzer made these", () => {
  const rows: [message: JsonObject, analyzers: JsonObject, hasWords: boolean][] = [
    [{ type: "text" }, {}, true],
    [{ type: "text", analyzer: "standard" }, {}, true],
    [{ type: "text", analyzer: "whitespace" }, {}, false],
    [{ type: "text" }, { default: { type: "keyword" } }, false],
    [{ type: "text" }, { default: { type: "standard", stopwords: ["error"] } }, false],
    [{ type: "text", analyzer: "standard" }, { standard: { type: "standard", max_token_length: 3 } }, false],
    [{ type: "text", index: false }, {}, false],
    [{ type: "keyword" }, {}, false],
  ];
  for (const [message, analyzer, hasWords] of rows) {
    const analysis = new Analysis({ analyzer });
    const mapping = Mapping.parse({ properties: { message } }, { index: "logs", analysis });
    const fields = new LabelFields([{ mapping } as IndexInfo]);
    assert.equal(fields.hasWords, hasWords, JSON.stringify([message, analyzer]));
  }
});
