/** A PostgreSQL server of its own for a test. */

import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chownSync, existsSync, globSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "#test/harness/free-ports.ts";

/** The server refuses to run as root. */
const NOBODY = 65_534;

const [BIN] = globSync("/usr/lib/postgresql/*/bin").filter((path) => existsSync(join(path, "initdb")));

/** Why there can be no server here; false where there can. */
export const noPostgresql: string | false =
  BIN === undefined
    ? "PostgreSQL isn't installed"
    : process.getuid?.() === 0 && spawnSync("true", { uid: NOBODY }).status !== 0
      ? "PostgreSQL doesn't run as root, and no other user can be had"
      : false;

/** Starts a server; returns its connection string without the scheme's `jdbc:`, and what ends it. */
export async function startPostgresql(): Promise<{ url: string; stop: () => Promise<void> }> {
  const folder = mkdtempSync(join(tmpdir(), "postgresql-"));
  const isRoot = process.getuid?.() === 0;
  if (isRoot) chownSync(folder, NOBODY, NOBODY);
  const user = {
    cwd: folder,
    env: { LC_ALL: "C", HOME: folder },
    ...(isRoot && { uid: NOBODY, gid: NOBODY }),
  };
  const data = join(folder, "data");
  execFileSync(join(BIN!, "initdb"), ["-D", data, "-U", "tester", "-A", "trust", "-N", "-E", "UTF8"], {
    ...user,
    stdio: "ignore",
  });
  const port = await freePort();
  const settings = ["listen_addresses=127.0.0.1", `unix_socket_directories=${folder}`, "fsync=off"];
  const server = spawn(
    join(BIN!, "postgres"),
    ["-D", data, "-p", String(port), ...settings.flatMap((each) => ["-c", each])],
    { ...user, stdio: ["ignore", "ignore", "pipe"] },
  );
  const ended = once(server, "exit");
  for await (const chunk of server.stderr) if (String(chunk).includes("ready to accept connections")) break;
  return {
    url: `postgresql://127.0.0.1:${port}/postgres?user=tester`,
    async stop() {
      server.kill("SIGINT");
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
