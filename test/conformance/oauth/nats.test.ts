/** One-time use on the hub's real state, JetStream's key-value store: the races that a store in memory may hide. */

import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, suite, test } from "node:test";
import { Journal } from "#hub/journal/journal.ts";
import { silentLogger } from "#proto/kit/log.ts";
import { Metrics } from "#proto/kit/metrics.ts";
import { startNats, type TestNats } from "#test/harness/nats.ts";
import { REDIRECT_URI, type TokenAnswer, World } from "./auth-server.ts";

const PARALLEL = 50;

suite("on JetStream", () => {
  const folder = mkdtempSync(join(tmpdir(), "tailrace-auth-journal-"));
  let nats: TestNats;
  let journal: Journal;
  let world: World;
  before(async () => {
    nats = await startNats();
    journal = new Journal({
      dataDir: folder,
      host: "127.0.0.1",
      port: 0,
      name: "test",
      external: { servers: [nats.url], token: nats.token },
      maxBytes: 32 * 1024 ** 2,
      log: silentLogger(),
      metrics: new Metrics(),
    });
    await journal.start();
    world = await World.start({ bucket: await journal.bucket("auth") });
    await world.addPerson();
    world.browser = await world.signedInBrowser();
  });
  after(async () => {
    await world.stop();
    await journal.stop();
    await nats.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  test(`${PARALLEL} parallel exchanges of one code: one token pair, and it is dead afterwards`, async () => {
    const client = await world.addClient();
    const code = await world.code(client);
    await assertOneWinner(Array.from({ length: PARALLEL }, () => world.exchange(client, code)));
  });

  test(`${PARALLEL} parallel uses of one rotating refresh token: one new pair, and the family is dead afterwards`, async () => {
    const client = await world.addClient([REDIRECT_URI], { rotateRefreshTokens: true });
    const { refresh } = await world.tokens(client);
    await assertOneWinner(Array.from({ length: PARALLEL }, () => world.refresh(client, refresh)));
  });

  async function assertOneWinner(attempts: Promise<TokenAnswer>[]): Promise<void> {
    const answers = await Promise.all(attempts);
    const winners = answers.filter(({ status }) => status === 200);
    assert.equal(winners.length, 1, answers.map(({ status }) => status).join(" "));
    for (const { status, body } of answers) if (status !== 200) assert.equal(body["error"], "invalid_grant");
    assert.equal(await world.apiStatus(String(winners[0]?.body["access_token"])), 401);
  }
});
