import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { isSignedOut } from "./session-client.ts";

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
