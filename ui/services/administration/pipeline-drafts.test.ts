import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";
import { readPipelineDraft, removePipelineDraft, writePipelineDraft } from "./pipeline-drafts.ts";

const stored = new Map<string, string>();

beforeEach(() => {
  Object.defineProperty(globalThis, "localStorage", {
    configurable: true,
    value: {
      getItem: (name: string) => stored.get(name) ?? null,
      setItem: (name: string, value: string) => stored.set(name, value),
      removeItem: (name: string) => stored.delete(name),
    },
  });
});

afterEach(() => {
  stored.clear();
  Reflect.deleteProperty(globalThis, "localStorage");
});

test("a draft is kept for each pipeline, the oldest forgotten beyond five, and what else is there is left out", () => {
  const draft = { name: "", revision: 0, text: "input {" };
  writePipelineDraft(draft);
  assert.deepEqual(readPipelineDraft(""), draft);
  writePipelineDraft({ ...draft, text: "input { stdin {" });
  assert.equal(readPipelineDraft("")?.text, "input { stdin {");
  for (let number = 1; number <= 5; number++) writePipelineDraft({ ...draft, name: `p${number}` });
  assert.equal(readPipelineDraft(""), undefined);
  removePipelineDraft("p5");
  assert.equal(readPipelineDraft("p5"), undefined);
  assert.deepEqual(readPipelineDraft("p4"), { ...draft, name: "p4" });
  stored.set("tailrace.pipeline-drafts", '[{"name":1},null,{"name":"x","revision":0}]');
  assert.equal(readPipelineDraft("x"), undefined);
  stored.set("tailrace.pipeline-drafts", "{oops");
  assert.equal(readPipelineDraft("p4"), undefined);
});
