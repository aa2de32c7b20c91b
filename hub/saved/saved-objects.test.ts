import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { AppError } from "#proto/kit/errors.ts";
import { MemoryBucket } from "#test/support/kit/memory-bucket.ts";
import { SavedObjects } from "./saved-objects.ts";

const clock = { now: () => Date.UTC(2026, 0, 31), monotonic: () => 0 };

function saved(): SavedObjects {
  return new SavedObjects(new MemoryBucket(), clock as never);
}

const fails = (code: string) => (error: unknown) => error instanceof AppError && error.code === code;

test("an object is saved, listed by title, changed under its revision, and deleted", async () => {
  const objects = saved();
  const second = await objects.create("search", { title: " Slow pages ", attributes: { q: "a" } });
  const first = await objects.create("search", { title: "Errors", attributes: {} });
  await objects.create("dashboard", { title: "Other", attributes: {} });
  assert.equal(second.title, "Slow pages");
  assert.equal(second.updated, "2026-01-31T00:00:00.000Z");
  assert.deepEqual(
    (await objects.list("search")).map(({ title }) => title),
    ["Errors", "Slow pages"],
  );
  const changed = await objects.put(
    "search",
    first.id,
    { title: "Errors", attributes: { q: "b" } },
    first.revision,
  );
  assert.ok(changed.revision > first.revision);
  assert.deepEqual(await objects.get("search", first.id), changed);
  await objects.delete("search", first.id);
  await assert.rejects(objects.get("search", first.id), fails("not_found"));
});

test("former versions are kept, twenty of each object, and go with it", async () => {
  const objects = saved();
  const save = (step: number) =>
    objects.put("dashboard", "main", { title: `Step ${step}`, attributes: { step }, by: "ann" });
  for (let step = 0; step < 25; step++) await save(step);
  const revisions = await objects.revisions("dashboard", "main");
  assert.equal(revisions.length, 20);
  assert.deepEqual([revisions[0]!.title, revisions.at(-1)!.title], ["Step 23", "Step 4"]);
  assert.deepEqual([revisions[0]!.by, "attributes" in revisions[0]!], ["ann", false]);
  const former = await objects.revision("dashboard", "main", revisions[0]!.revision);
  assert.deepEqual(former.attributes, { step: 23 });
  const { revision } = await objects.get("dashboard", "main");
  assert.deepEqual((await objects.revision("dashboard", "main", revision)).attributes, { step: 24 });
  await assert.rejects(objects.revision("dashboard", "main", 1), fails("not_found"));
  assert.equal((await objects.list("dashboard")).length, 1);
  await objects.delete("dashboard", "main");
  await assert.rejects(objects.revisions("dashboard", "main"), fails("not_found"));
  await objects.put("dashboard", "main", { title: "New", attributes: {} });
  assert.deepEqual(await objects.revisions("dashboard", "main"), []);
});

test("an object whose former version can't be kept stays as it is, and is saved once it can", async () => {
  const bucket = new MemoryBucket();
  const objects = new SavedObjects(bucket, clock as never);
  const first = await objects.put("dashboard", "main", { title: "First", attributes: {} });
  const second = { title: "Second", attributes: {} };
  const away = () => Promise.reject(new AppError("unavailable", "the store is away"));
  const store = bucket.put.bind(bucket);
  const put = mock.method(bucket, "put", (key: string, value: Uint8Array) =>
    key.startsWith("history/") ? away() : store(key, value),
  );
  await assert.rejects(objects.put("dashboard", "main", second, first.revision), fails("unavailable"));
  put.mock.restore();
  assert.deepEqual(await objects.get("dashboard", "main"), first);
  const update = mock.method(bucket, "update", away);
  await assert.rejects(objects.put("dashboard", "main", second, first.revision), fails("unavailable"));
  update.mock.restore();
  assert.deepEqual(await objects.revisions("dashboard", "main"), []);
  await objects.put("dashboard", "main", second, first.revision);
  await assert.rejects(objects.put("dashboard", "main", second, first.revision), fails("journal_conflict"));
  const titles = (await objects.revisions("dashboard", "main")).map(({ title }) => title);
  assert.deepEqual(titles, ["First"]);
});

test("a deletion that leaves former versions says so, deletes them when repeated, and gives them to no successor", async () => {
  const bucket = new MemoryBucket();
  const objects = new SavedObjects(bucket, clock as never);
  const remove = bucket.delete.bind(bucket);
  /** Leaves an object's one former version behind. */
  const deleteHalf = async () => {
    for (const title of ["First", "Second"])
      await objects.put("dashboard", "main", { title, attributes: {} });
    const failing = mock.method(bucket, "delete", (key: string, revision?: number) =>
      key.startsWith("history/")
        ? Promise.reject(new AppError("unavailable", "the store is away"))
        : remove(key, revision),
    );
    await assert.rejects(objects.delete("dashboard", "main"), (error: unknown) => {
      assert.match(
        String(error),
        /dashboard main is deleted, but not all of its former versions; delete it again/,
      );
      return fails("unavailable")(error);
    });
    failing.mock.restore();
    assert.equal((await bucket.keys("history/")).length, 1);
  };
  await deleteHalf();
  await assert.rejects(objects.get("dashboard", "main"), fails("not_found"));
  await objects.delete("dashboard", "main");
  assert.deepEqual(await bucket.keys("history/"), []);
  await assert.rejects(objects.delete("dashboard", "main"), fails("not_found"));
  await deleteHalf();
  await objects.create("dashboard", { title: "Successor", attributes: {} }, "main");
  assert.deepEqual(await objects.revisions("dashboard", "main"), []);
  await assert.rejects(objects.create("dashboard", { title: "Third", attributes: {} }, "main"));
});

test("an object that exists keeps its versions when another is to be created under its id", async () => {
  const objects = saved();
  for (const title of ["First", "Second"]) await objects.put("dashboard", "main", { title, attributes: {} });
  await assert.rejects(
    objects.create("dashboard", { title: "Third", attributes: {} }, "main"),
    fails("journal_conflict"),
  );
  assert.equal((await objects.revisions("dashboard", "main")).length, 1);
});

test("of two concurrent changes of one object the slower one fails", async () => {
  const objects = saved();
  const content = { title: "Mine", attributes: {} };
  const { id, revision } = await objects.put("dashboard", "main", content);
  assert.equal(id, "main");
  await objects.put("dashboard", "main", content, revision);
  await assert.rejects(objects.put("dashboard", "main", content, revision), fails("journal_conflict"));
  await assert.rejects(objects.delete("dashboard", "main", revision), fails("journal_conflict"));
  await assert.rejects(objects.create("dashboard", content, "main"), fails("journal_conflict"));
});

test("an invalid object is refused with its fault", async () => {
  const objects = saved();
  const content = { title: "Mine", attributes: {} };
  await assert.rejects(objects.list("dashbord"), /unknown type dashbord.*did you mean "dashboard"/);
  await assert.rejects(objects.put("search", "../x", content), fails("request_invalid"));
  await assert.rejects(objects.create("search", { title: " ", attributes: {} }), fails("request_invalid"));
  await assert.rejects(objects.put("search", "gone", content, 7), fails("not_found"));
  const huge = { title: "Huge", attributes: { text: "x".repeat(300_000) } };
  await assert.rejects(objects.create("search", huge), fails("request_too_large"));
});

test("samples are saved once, come back where they were deleted, and stay as people changed them", async () => {
  const objects = saved();
  const first = await objects.loadSamples();
  assert.equal(first.existing.length, 0);
  const shown = new Set((await objects.list("visualisation")).map(({ id }) => id));
  for (const { attributes } of await objects.list("dashboard"))
    for (const { id } of attributes["panels"] as { id: string }[]) assert.ok(shown.has(id), id);
  for (const { title, attributes } of await objects.list("visualisation")) {
    const parameters = new URLSearchParams(String(attributes["parameters"]));
    if (parameters.get("metric")?.endsWith("bytes") === true)
      assert.equal(parameters.get("unit"), "bytes", title);
  }
  await objects.put("search", "failed-requests", { title: "Mine", attributes: {} });
  await objects.delete("dashboard", "access-logs");
  const again = await objects.loadSamples();
  assert.deepEqual(
    again.saved.map(({ id }) => id),
    ["access-logs"],
  );
  assert.equal(again.existing.length, first.saved.length - 1);
  assert.equal((await objects.get("search", "failed-requests")).title, "Mine");
});
