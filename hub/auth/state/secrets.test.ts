/** Tests of random secrets. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { newSecret } from "./secrets.ts";

/** Of base64url's first characters one in 32 is a dash or an underscore: none in 2,000 isn't an accident. */
const DRAWN = 2_000;

test("a secret has 43 characters and can't be mistaken for an option", () => {
  const secrets = new Set(Array.from({ length: DRAWN }, newSecret));
  assert.equal(secrets.size, DRAWN);
  for (const secret of secrets) assert.match(secret, /^[A-Za-z0-9][A-Za-z0-9_-]{42}$/);
});
