import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";
import { fakeStorage } from "#test/support/ui/fake-storage.ts";
import { openOwn } from "#ui/services/browser/own-texts.ts";
import { PipelineEdit } from "./pipeline-edit.ts";

let storage: ReturnType<typeof fakeStorage>;
beforeEach(() => {
  storage = fakeStorage();
  openOwn("ada", true);
});
afterEach(() => storage.remove());

const FRESH = { account: "ada", name: "", grok: "", text: "first", revision: 0 };

test("a changed text is there again, of the revision that it began from, until it is discarded", () => {
  const edit = new PipelineEdit({ ...FRESH, name: "web", revision: 3 });
  assert.equal(edit.isDraft, false);
  edit.change("mine");
  const later = new PipelineEdit({ ...FRESH, name: "web", text: "theirs", revision: 4 });
  assert.deepEqual([later.text, later.isDraft, later.isOutdated], ["mine", true, true]);
  later.discard();
  assert.deepEqual([later.text, later.isDraft, later.isOutdated], ["theirs", false, false]);
  later.change("again");
  assert.equal(later.isOutdated, false);
  later.discard();
  assert.deepEqual([...storage.stored.keys()], ["tailrace.own.account"]);
});

test("what is typed while a pipeline is saved is the draft of the saved one", () => {
  const edit = new PipelineEdit(FRESH);
  edit.change("sent");
  edit.change("sent, and more");
  edit.saved("web", "sent", 7);
  assert.deepEqual([edit.text, edit.isDraft, edit.isOutdated], ["sent, and more", true, false]);
  const later = new PipelineEdit({ ...FRESH, name: "web", text: "sent", revision: 7 });
  assert.deepEqual([later.text, later.isDraft, later.isOutdated], ["sent, and more", true, false]);
  assert.equal(new PipelineEdit(FRESH).text, "first");
});

test("a pipeline that is saved as it is leaves no draft", () => {
  const edit = new PipelineEdit(FRESH);
  edit.change("sent");
  edit.saved("web", "sent", 7);
  assert.equal(edit.isDraft, false);
  assert.deepEqual([...storage.stored.keys()], ["tailrace.own.account"]);
});

test("a pipeline that begins with a grok expression leaves the draft of another new one alone", () => {
  new PipelineEdit(FRESH).change("a day's work");
  const fromLine = new PipelineEdit({ ...FRESH, grok: "%{IP:client}", text: "from the line" });
  assert.equal(fromLine.text, "from the line");
  fromLine.change("from the line, changed");
  assert.equal(new PipelineEdit(FRESH).text, "a day's work");
  assert.equal(
    new PipelineEdit({ ...FRESH, grok: "%{IP:client}", text: "from the line" }).text,
    "from the line, changed",
  );
});

test("a draft that isn't kept is not said to be: the storage is full or blocked, or the account unknown", () => {
  const edit = new PipelineEdit(FRESH);
  edit.change("kept");
  assert.equal(edit.isKept, true);
  storage.isFull = true;
  edit.change("too much");
  assert.equal(edit.isKept, false);
  storage.isFull = false;
  edit.change("less");
  assert.equal(edit.isKept, true);
  const unknown = new PipelineEdit({ ...FRESH, account: undefined });
  unknown.change("nobody's");
  assert.equal(unknown.isKept, false);
});
