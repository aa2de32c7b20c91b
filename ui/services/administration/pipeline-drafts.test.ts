import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";
import {
  forgetPipelineDrafts,
  readPipelineDraft,
  removePipelineDraft,
  writePipelineDraft,
} from "./pipeline-drafts.ts";

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

const key = (name: string): { account: string; name: string } => ({ account: "ada", name });

test("a draft is kept for each pipeline, the oldest forgotten beyond five, and what else is there is left out", () => {
  const draft = { ...key(""), revision: 0, text: "input {" };
  assert.equal(writePipelineDraft(draft), true);
  assert.deepEqual(readPipelineDraft(key("")), draft);
  writePipelineDraft({ ...draft, text: "input { stdin {" });
  assert.equal(readPipelineDraft(key(""))?.text, "input { stdin {");
  for (let number = 1; number <= 5; number++) writePipelineDraft({ ...draft, name: `p${number}` });
  assert.equal(readPipelineDraft(key("")), undefined);
  removePipelineDraft(key("p5"));
  assert.equal(readPipelineDraft(key("p5")), undefined);
  assert.deepEqual(readPipelineDraft(key("p4")), { ...draft, name: "p4" });
  stored.set("tailrace.pipeline-drafts", '[{"name":1},null,{"name":"x","revision":0,"text":""}]');
  assert.equal(readPipelineDraft(key("x")), undefined);
  stored.set("tailrace.pipeline-drafts", "{oops");
  assert.equal(readPipelineDraft(key("p4")), undefined);
});

test("a draft is shown to its own account only, and all are forgotten at once", () => {
  writePipelineDraft({ ...key("web"), revision: 1, text: 'password => "secret"' });
  writePipelineDraft({ ...key("web"), account: "eve", revision: 1, text: "input {}" });
  assert.equal(readPipelineDraft({ account: "eve", name: "web" })?.text, "input {}");
  removePipelineDraft({ account: "eve", name: "web" });
  assert.equal(readPipelineDraft({ account: "eve", name: "web" }), undefined);
  assert.equal(readPipelineDraft(key("web"))?.text, 'password => "secret"');
  forgetPipelineDrafts();
  assert.equal(stored.size, 0);
});
