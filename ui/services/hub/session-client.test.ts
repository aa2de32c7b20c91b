import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { fakeStorage } from "#test/support/ui/fake-storage.ts";
import { openOwn, readOwn, writeOwn } from "#ui/services/browser/own-texts.ts";
import { fetchViewer, HUB_MISSED_EVENT, isSignedOut, knownViewer } from "./session-client.ts";

const ANSWERS: readonly (readonly [name: string, answer: () => Promise<Response>, isOut: boolean])[] = [
  ["a session", () => Promise.resolve(Response.json({ kind: "user" })), false],
  ["no session", () => Promise.resolve(new Response("", { status: 401 })), true],
  ["a hub that starts", () => Promise.resolve(new Response("", { status: 503 })), false],
  ["no hub", () => Promise.reject(new TypeError("fetch failed")), false],
];

for (const [name, answer, isOut] of ANSWERS)
  test(`the sign-in is asked for with status 401 alone: ${name}`, async () => {
    const fetched = mock.method(globalThis, "fetch", answer);
    try {
      assert.equal(await isSignedOut(), isOut);
    } finally {
      fetched.mock.restore();
    }
  });

test("the account is asked for once, and again when this browser is signed in with another", async (t) => {
  const storage = fakeStorage();
  t.after(() => storage.remove());
  let name = "ada";
  const fetched = t.mock.method(globalThis, "fetch", () =>
    Promise.resolve(Response.json({ kind: "user", name, role: "editor" })),
  );
  await Promise.all([knownViewer(), knownViewer()]);
  assert.equal((await knownViewer())?.name, "ada");
  assert.equal(fetched.mock.callCount(), 1);
  assert.equal(writeOwn("ada", "console.text", "GET /"), true);
  name = "eve";
  openOwn("eve", true);
  assert.equal((await knownViewer())?.name, "eve");
  assert.equal(fetched.mock.callCount(), 2);
  assert.equal(readOwn("eve", "console.text"), undefined);
});

test("a hub that hangs or fails is noticed when it doesn't tell the account, a sign-in that is missing isn't", async (t) => {
  const page = new EventTarget();
  Object.assign(globalThis, { dispatchEvent: page.dispatchEvent.bind(page) });
  t.after(() => Reflect.deleteProperty(globalThis, "dispatchEvent"));
  let missed = 0;
  page.addEventListener(HUB_MISSED_EVENT, () => missed++);
  t.mock.method(AbortSignal, "timeout", () => AbortSignal.abort(new DOMException("late", "TimeoutError")));
  const answers = [
    (signal: AbortSignal) => Promise.reject(signal.reason as Error),
    () => Promise.resolve(new Response("", { status: 503 })),
    () => Promise.resolve(new Response("", { status: 401 })),
  ];
  t.mock.method(globalThis, "fetch", (_: string, { signal }: { signal: AbortSignal }) =>
    answers.shift()!(signal),
  );
  for (const expected of [1, 2, 2]) {
    assert.equal(await fetchViewer(), undefined);
    assert.equal(missed, expected);
  }
});
