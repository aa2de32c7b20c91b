import assert from "node:assert/strict";
import { test } from "node:test";
import { LogDocument } from "#ui/services/search/log-document.ts";
import { SearchClient } from "#ui/services/search/search-client.ts";
import { findSources, formatOf } from "./source-formats.ts";

const lineOf = (source: object) => new LogDocument({ _index: "i", _id: "1", _source: source as never });
const COMMON = {
  "@timestamp": "2026-01-31T14:05:09Z",
  message: "a line",
  host: { name: "web-1" },
  log: { file: { path: "/a" }, offset: 0, level: "info" },
  shipper: { name: "web-1" },
};

test("a line's format is seen in its document", () => {
  const formats: readonly (readonly [object, string])[] = [
    [COMMON, "plain"],
    [{ ...COMMON, service: "cart" }, "json"],
    [{ ...COMMON, log: { syslog: { hostname: "web-1" } }, process: { name: "cron" } }, "syslog"],
    [
      {
        ...COMMON,
        source: { address: "::1" },
        http: { response: { status_code: 200 } },
        url: { original: "/" },
      },
      "access",
    ],
  ];
  for (const [source, format] of formats) assert.equal(formatOf(lineOf(source)), format);
});

test("sources have their rate, formats and lines of none; those without a file come last", async () => {
  const newest = (sources: object[]) => ({
    hits: { hits: sources.map((_source, id) => ({ _index: "i", _id: String(id), _source })) },
  });
  const aggregations = {
    files: {
      buckets: [
        {
          key: "/a",
          doc_count: 900,
          recent: { doc_count: 600 },
          newest: newest([COMMON, { ...COMMON, a: 1 }]),
        },
      ],
    },
    others: { doc_count: 0, recent: { doc_count: 0 }, newest: newest([]) },
  };
  const answer = { took: 1, timed_out: false, hits: { total: 900, hits: [] }, aggregations };
  const client = new SearchClient(() => Promise.resolve(new Response(JSON.stringify(answer))));
  assert.deepEqual(await findSources(client, 0, new AbortController().signal), [
    {
      path: "/a",
      lines: 900,
      perSecond: 2,
      formats: { access: 0, syslog: 0, json: 1, plain: 1 },
      plain: ["a line"],
    },
  ]);
});
