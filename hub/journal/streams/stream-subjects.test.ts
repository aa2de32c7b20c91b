import assert from "node:assert/strict";
import { test } from "node:test";
import type { StreamInfo } from "@nats-io/jetstream";
import { allSubjects } from "./stream-subjects.ts";

/** Subjects of a page of the tests' server. */
const LIMIT = 10;
const STORED = Array.from({ length: 25 }, (_, at) => `k.${at + 10}`);

/** Returns what is listed and the offsets asked for; `change` gets what is stored after each answer and its number, from 1. */
async function listed(change: (stored: string[], answers: number) => string[]) {
  let stored = STORED;
  const offsets: number[] = [];
  const subjects = await allSubjects(async (offset) => {
    const page = stored.slice(offset, offset + LIMIT).map((subject) => [subject, 1] as const);
    const { length: total } = stored;
    stored = change(stored, offsets.push(offset)).toSorted();
    const state = page.length === 0 ? {} : { subjects: Object.fromEntries(page) };
    return { state, total } as unknown as StreamInfo;
  });
  return { subjects: subjects.toSorted(), offsets };
}

test("all pages of subjects are listed", async () => {
  assert.deepEqual(await listed((stored) => stored), { subjects: STORED, offsets: [0, 5, 10, 15] });
});

test("a subject that is stored throughout is listed where others are removed between pages", async () => {
  for (const removed of [1, 4, 5, 6, 9, 24]) {
    const { subjects } = await listed((stored, answers) => (answers === 1 ? stored.slice(removed) : stored));
    assert.deepEqual(
      subjects.filter((each) => STORED.indexOf(each) >= removed),
      STORED.slice(removed),
    );
  }
});

test("a subject that is stored throughout is listed where others are removed after each page", async () => {
  const { subjects, offsets } = await listed((stored) => stored.slice(stored.length < 8 ? 0 : 6));
  for (const each of STORED.slice(-7)) assert.ok(subjects.includes(each), each);
  assert.ok(offsets.length < 9, offsets.join());
});

test("a listing of subjects ends where all are removed, and where more are added", async () => {
  assert.deepEqual((await listed(() => [])).subjects, STORED.slice(0, LIMIT));
  const { subjects } = await listed((stored, answers) =>
    answers < 4 ? [...stored, `a.${answers}`] : stored,
  );
  for (const each of STORED) assert.ok(subjects.includes(each), each);
});
