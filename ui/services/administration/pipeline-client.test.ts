import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { changesOf, getPipeline, putPipeline } from "./pipeline-client.ts";

test("a pipeline of files has their texts, and a new one is saved only where there is none of its name", async () => {
  const asked: string[] = [];
  const files = [
    { path: "a.conf", text: "input {}" },
    { path: "b.conf", text: "output {}" },
  ];
  const fetched = mock.method(globalThis, "fetch", (address: string) => {
    asked.push(address);
    return Promise.resolve(Response.json({ id: "web", origin: "files", files }));
  });
  try {
    const { text, revision } = await getPipeline("web", new AbortController().signal);
    assert.deepEqual([text, revision], ["input {}\noutput {}", 0]);
    await putPipeline("web", "input {}", "", 0);
    assert.equal(asked.at(-1), "/api/pipelines/web?revision=0");
  } finally {
    fetched.mock.restore();
  }
});

test("what a step did is told field by field", () => {
  const before = { message: "GET /", tags: ["a"], http: { method: "GET" } };
  const after = { message: "GET /", tags: ["a", "b"], http: { status: 200 } };
  assert.deepEqual(changesOf(before, after), [
    { field: "tags", kind: "changed", value: "a, b" },
    { field: "http.status", kind: "added", value: "200" },
    { field: "http.method", kind: "removed", value: "GET" },
  ]);
});
