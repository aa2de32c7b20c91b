/** For tests: a journal whose nats-server is somebody else's. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Journal } from "#hub/journal/journal.ts";
import { silentLogger } from "#proto/kit/log.ts";
import { Metrics } from "#proto/kit/metrics.ts";
import { MIB } from "#proto/kit/units.ts";
import { startNats, type TestNats } from "#test/harness/nats.ts";

/** Starts a nats-server and a journal on it; `program`: its path, the installed one where it isn't given. */
export async function openJournal(
  program?: string,
): Promise<{ journal: Journal; nats: TestNats; close: () => Promise<void> }> {
  const nats = await startNats(program === undefined ? {} : { program });
  const folder = mkdtempSync(join(tmpdir(), "tailrace-bucket-"));
  const journal = new Journal({
    dataDir: folder,
    host: "127.0.0.1",
    port: 0,
    name: "test",
    external: { servers: [nats.url], token: nats.token },
    maxBytes: 32 * MIB,
    log: silentLogger(),
    metrics: new Metrics(),
  });
  await journal.start();
  const close = async (): Promise<void> => {
    await journal.stop();
    await nats.stop();
    rmSync(folder, { recursive: true, force: true });
  };
  return { journal, nats, close };
}
