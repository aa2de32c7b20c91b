import assert from "node:assert/strict";
import { test } from "node:test";
import { RawJson, writeJson } from "#hub/search/options/json-writer.ts";
import { NumberText } from "#proto/kit/number-text.ts";
import { withReadable } from "./human-values.ts";

test("sizes and times have texts before them, as 6.5.4 prints them", () => {
  const given = {
    store: { size_in_bytes: 3265 },
    indexing: { index_time_in_millis: 38, index_total: 7 },
    process: [{ total_virtual_in_bytes: 3035947008, uptime_in_millis: 1841756 }],
    task: { running_time_in_nanos: 112_296, start_time_in_millis: 0 },
    task_max_waiting_in_queue_millis: 0,
    limit_in_bytes: "9223372036854771712",
    pool: { max_in_bytes: -1 },
    named: { took: "1s", took_in_millis: 1_000 },
  };
  assert.equal(
    JSON.stringify(withReadable(given)),
    JSON.stringify({
      store: { size: "3.1kb", size_in_bytes: 3265 },
      indexing: { index_time: "38ms", index_time_in_millis: 38, index_total: 7 },
      process: [
        {
          total_virtual: "2.8gb",
          total_virtual_in_bytes: 3035947008,
          uptime: "30.6m",
          uptime_in_millis: 1841756,
        },
      ],
      task: {
        running_time: "112.2micros",
        running_time_in_nanos: 112_296,
        start_time: "1970-01-01T00:00:00.000Z",
        start_time_in_millis: 0,
      },
      task_max_waiting_in_queue: "0s",
      task_max_waiting_in_queue_millis: 0,
      limit_in_bytes: "9223372036854771712",
      pool: { max: "-1b", max_in_bytes: -1 },
      named: { took: "1s", took_in_millis: 1_000 },
    }),
  );
});

test("numbers with a text of their own and documents stay as they are", () => {
  const given = {
    task: { requests_per_second: new NumberText("-1.0"), running_time_in_nanos: 112_296 },
    hits: [{ _source: new RawJson(Buffer.from('{"size_in_bytes": 1.0}')), sort: [new NumberText("5.0")] }],
  };
  assert.equal(
    writeJson(withReadable(given)),
    '{"task":{"requests_per_second":-1.0,"running_time":"112.2micros","running_time_in_nanos":112296},"hits":[{"_source":{"size_in_bytes": 1.0},"sort":[5.0]}]}',
  );
});
