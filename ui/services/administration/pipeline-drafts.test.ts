import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";
import { fakeStorage } from "#test/support/ui/fake-storage.ts";
import { openOwn } from "#ui/services/browser/own-texts.ts";
import { readPipelineDraft, removePipelineDraft, writePipelineDraft } from "./pipeline-drafts.ts";

let storage: ReturnType<typeof fakeStorage>;
beforeEach(() => {
  storage = fakeStorage();
  openOwn("ada", true);
});
afterEach(() => storage.remove());

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
  storage.stored.set(
    "tailrace.own.pipeline-drafts.ada",
    '[{"name":1},null,{"name":"x","revision":0,"text":""}]',
  );
  assert.equal(readPipelineDraft(key("x")), undefined);
  storage.stored.set("tailrace.own.pipeline-drafts.ada", "{oops");
  assert.equal(readPipelineDraft(key("p4")), undefined);
});

test("a draft is shown to its own account only", () => {
  writePipelineDraft({ ...key("web"), revision: 1, text: 'password => "secret"' });
  openOwn("eve", true);
  writePipelineDraft({ ...key("web"), account: "eve", revision: 1, text: "input {}" });
  assert.equal(readPipelineDraft({ account: "eve", name: "web" })?.text, "input {}");
  removePipelineDraft({ account: "eve", name: "web" });
  assert.equal(readPipelineDraft({ account: "eve", name: "web" }), undefined);
  openOwn("ada", true);
  assert.equal(readPipelineDraft(key("web"))?.text, 'password => "secret"');
});
