import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { World } from "#test/conformance/oauth/auth-server.ts";
import { Browser } from "#test/conformance/oauth/browser.ts";

suite("the first administrator", () => {
  test("the link is over once there is an account", async () => {
    const world = await World.start();
    try {
      const link = await world.auth.setupLink();
      await world.addPerson();
      const page = await new Browser().get(link ?? "");
      assert.equal(page.status, 403);
      assert.doesNotMatch(page.text, /<form/);
    } finally {
      await world.stop();
    }
  });

  test("is made by a link that works once", async () => {
    const world = await World.start();
    try {
      const stale = await world.auth.setupLink();
      const link = await world.auth.setupLink();
      assert.ok(link?.startsWith(`${world.origin}/api/auth/setup/`));
      const browser = new Browser();
      assert.equal((await browser.get(stale ?? "")).status, 403, "a newer link replaces it");
      const page = await browser.get(link ?? "");
      const short = await browser.submit(page, new URL(link ?? "").pathname, {
        name: "root",
        password: "short",
      });
      assert.equal(short.status, 400);
      assert.match(short.text, /10 to 256/);
      const fields = { name: "root", password: "a long password" };
      const answers = await Promise.all(
        Array.from({ length: 5 }, () => new Browser().submit(page, new URL(link ?? "").pathname, fields)),
      );
      assert.deepEqual(
        answers.map(({ status }) => status).sort((a, b) => a - b),
        [303, 403, 403, 403, 403],
      );
      assert.deepEqual(
        (await world.auth.accounts.list()).map(({ name, role }) => [name, role]),
        [["root", "admin"]],
      );
      assert.equal(await world.auth.setupLink(), null);
      assert.ok(!world.logs.join("").includes(new URL(link ?? "").pathname.split("/").pop() ?? "-"));
    } finally {
      await world.stop();
    }
  });

  test("can't be the last one to be removed or demoted", async () => {
    const world = await World.start();
    try {
      await world.addPerson();
      await assert.rejects(world.auth.accounts.remove("ada", "test"), { code: "request_invalid" });
      await assert.rejects(world.auth.accounts.setRole("ada", "viewer", ["*"], "test"), {
        code: "request_invalid",
      });
    } finally {
      await world.stop();
    }
  });
});
