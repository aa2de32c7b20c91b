import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, beforeEach, describe, test } from "node:test";
import { type JetStreamManager, jetstream, jetstreamManager } from "@nats-io/jetstream";
import { connect, type NatsConnection } from "@nats-io/transport-node";
import { HUB_USER } from "#hub/journal/connection/connection.ts";
import { silentLogger } from "#proto/kit/log.ts";
import { isAlive } from "#proto/kit/process/running-process.ts";
import { EmbeddedServer, type EmbeddedServerOptions } from "./embedded-server.ts";
import { HUB_ACCOUNT } from "./server-config.ts";
import { checkServerVersion, findServerBinary, parseServerVersion } from "./server-program.ts";

const root = mkdtempSync(join(tmpdir(), "tailrace-server-"));
after(() => rmSync(root, { recursive: true, force: true }));

let dataDir = "";
beforeEach(() => {
  dataDir = mkdtempSync(join(root, "data-"));
});

function newServer(options: Partial<EmbeddedServerOptions> = {}): EmbeddedServer {
  return new EmbeddedServer({ dataDir, host: "127.0.0.1", port: 0, log: silentLogger(), ...options });
}

const NO_PROC = process.platform === "linux" ? false : "the environment of a process is read from /proc";

/** Runs `use` with a started server and stops it. */
async function running(server: EmbeddedServer, use: () => Promise<void>): Promise<void> {
  await server.start();
  try {
    await use();
  } finally {
    await server.stop();
  }
}

/** Starts a process with a server on the data folder `folder`, as a hub runs it. */
async function startHubBelow(
  folder: string,
): Promise<{ readonly hub: ChildProcess; readonly orphan: { readonly pid: number; readonly url: string } }> {
  mkdirSync(folder, { recursive: true });
  const script = join(folder, "hub.ts");
  const module = new URL("./embedded-server.ts", import.meta.url).href;
  writeFileSync(
    script,
    `import { EmbeddedServer } from ${JSON.stringify(module)};
     const log = { debug() {}, info() {}, warn() {}, error() {} };
     const server = new EmbeddedServer({ dataDir: ${JSON.stringify(folder)}, host: "127.0.0.1", port: 0, log });
     await server.start();
     console.log(JSON.stringify({ pid: server.pid, url: server.url }));`,
  );
  const hub = spawn(process.execPath, [script], { stdio: ["ignore", "pipe", "inherit"] });
  const [line] = (await once(createInterface(hub.stdout), "line")) as [string];
  return { hub, orphan: JSON.parse(line) as { pid: number; url: string } };
}

async function withJetStream(
  url: string,
  token: string,
  use: (nats: NatsConnection) => Promise<void>,
): Promise<void> {
  const nats = await connect({ servers: url, user: HUB_USER, pass: token });
  try {
    await use(nats);
  } finally {
    await nats.close();
  }
}

/** A program that prints `text` for -v. */
function fakeBinary(text: string): NodeJS.ProcessEnv {
  const folder = mkdtempSync(join(root, "bin-"));
  const path = join(folder, "nats-server");
  writeFileSync(path, `#!/bin/sh\necho '${text}'\n`);
  chmodSync(path, 0o755);
  return { TAILRACE_NATS_SERVER: path };
}

describe("the version of nats-server", () => {
  for (const [text, refused] of [
    ["nats-server: v2.8.4", /lacks parts of JetStream/],
    ["nats-server: v2.9.9", /lacks parts of JetStream/],
    ["nats-server: v2.9.10", undefined],
    ["nats-server: v2.9.25", undefined],
    ["nats-server: v2.10.0", /can lose a whole stream/],
    ["nats-server: v2.10.22", /can lose a whole stream/],
    ["nats-server: v2.10.23", undefined],
    ["nats-server: v2.11.0-RC.1", undefined],
    ["nats-server: v3.0.0", undefined],
  ] as const) {
    test(`${text} is ${refused === undefined ? "taken" : "refused"}`, () => {
      const check = (): void => checkServerVersion(parseServerVersion(text)!, "here");
      if (refused === undefined) assert.doesNotThrow(check);
      else assert.throws(check, { code: "nats_refused", message: refused });
    });
  }

  test("a program with a version that is no good isn't started", async () => {
    const server = newServer({ env: fakeBinary("nats-server: v2.10.21") });
    await assert.rejects(server.start(), { code: "nats_refused", message: /2\.10\.21.*install 2\.10\.27/s });
  });

  test("a program that is something else is refused", async () => {
    await assert.rejects(findServerBinary(fakeBinary("hello")), { code: "nats_refused" });
  });

  test("a program that doesn't end in time isn't a program without a version", async () => {
    const path = join(dataDir, "slow");
    writeFileSync(path, "#!/bin/sh\ntrap 'exit 0' TERM\nread line\n", { mode: 0o755 });
    const found = findServerBinary({ TAILRACE_NATS_SERVER: path }, false, 100);
    await assert.rejects(found, {
      code: "nats_refused",
      message: /slow -v failed: it did not end within 0\.1 s/,
    });
  });

  test("a missing program is an error with its path", async () => {
    const env = { TAILRACE_NATS_SERVER: "/nowhere/nats-server" };
    await assert.rejects(findServerBinary(env), { code: "nats_missing", message: /\/nowhere\/nats-server/ });
  });
});

describe("the embedded nats-server", () => {
  test("runs with a token, in files that only the hub's user can read, and leaves no file", async () => {
    const server = newServer();
    let pid = 0;
    await running(server, async () => {
      pid = server.pid!;
      assert.match(server.url, /^nats:\/\/127\.0\.0\.1:\d+$/);
      await withJetStream(server.url, server.token, async () => undefined);
      await assert.rejects(connect({ servers: server.url, user: HUB_USER, pass: "wrong" }), /Authorization/i);
      assert.equal(readFileSync(server.tokenFile, "utf8").trim(), server.token);
      for (const name of ["token", "nats.conf"]) {
        assert.equal(statSync(join(dataDir, "nats", name)).mode & 0o077, 0, name);
      }
    });
    assert.equal(isAlive(pid), false);
    assert.ok(!readdirSync(join(dataDir, "nats")).includes("owner.lock"));
  });

  test("has a soft memory limit, unless the environment sets another", { skip: NO_PROC }, async () => {
    for (const [given, limit] of [
      [{}, "96MiB"],
      [{ GOMEMLIMIT: "200MiB" }, "200MiB"],
    ] as const) {
      const { GOMEMLIMIT: _, ...env } = process.env;
      const server = newServer({ env: { ...env, ...given } });
      await running(server, () => {
        const variables = readFileSync(`/proc/${server.pid}/environ`, "utf8").split("\0");
        assert.deepEqual(
          variables.filter((variable) => variable.startsWith("GOMEMLIMIT=")),
          [`GOMEMLIMIT=${limit}`],
        );
        return Promise.resolve();
      });
    }
  });

  test("keeps its token over restarts of the hub", async () => {
    const tokens: string[] = [];
    for (const server of [newServer(), newServer()]) {
      await running(server, async () => void tokens.push(server.token));
    }
    assert.equal(tokens[0], tokens[1]);
    assert.ok(tokens[0]!.length >= 32);
  });

  test("is started again on the same port when it dies", async () => {
    const { promise: restarted, resolve } = Promise.withResolvers<void>();
    const server = newServer({ onRestart: resolve });
    await running(server, async () => {
      const { url, pid, token } = server;
      const own = { servers: url, user: HUB_USER, pass: token };
      const nats = await connect({ ...own, reconnectTimeWait: 20, maxReconnectAttempts: -1 });
      const back = (async () => {
        for await (const { type } of nats.status()) if (type === "reconnect") return;
      })();
      process.kill(pid!, "SIGKILL");
      await restarted;
      await back;
      assert.equal(server.url, url);
      assert.notEqual(server.pid, pid);
      await nats.close();
    });
  });

  test("takes over the streams of an earlier version, whose server had no accounts", async () => {
    const server = newServer();
    const streams = (use: (manager: JetStreamManager) => Promise<unknown>): Promise<void> =>
      running(server, () =>
        withJetStream(
          server.url,
          server.token,
          async (nats) => void (await use(await jetstreamManager(nats))),
        ),
      );
    await streams((manager) => manager.streams.add({ name: "S", subjects: ["s"] }));
    const folder = join(dataDir, "nats/store/jetstream");
    renameSync(join(folder, HUB_ACCOUNT), join(folder, "$G"));
    await streams(async (manager) => assert.equal((await manager.streams.info("S")).config.name, "S"));
  });

  test("stops while it is being started again", async () => {
    const { promise: restarted, resolve } = Promise.withResolvers<void>();
    const server = newServer({ onRestart: resolve });
    await server.start();
    process.kill(server.pid!, "SIGKILL");
    await restarted;
    await server.stop();
    assert.equal(server.pid, undefined);
    await server.stop();
  });

  test("left running by a killed hub is ended by the next hub, which has its messages", async () => {
    const { hub, orphan } = await startHubBelow(dataDir);

    await assert.rejects(newServer().start(), { code: "data_locked", message: new RegExp(`${hub.pid}`) });
    assert.equal(isAlive(orphan.pid), true, "a living hub's server is left alone");

    const token = readFileSync(join(dataDir, "nats", "token"), "utf8").trim();
    await withJetStream(orphan.url, token, async (nats) => {
      await (await jetstreamManager(nats)).streams.add({ name: "S", subjects: ["s"] });
      await jetstream(nats).publish("s", "kept");
    });
    hub.kill("SIGKILL");
    await once(hub, "exit");
    assert.equal(isAlive(orphan.pid), true);
    const port = Number(new URL(orphan.url).port);
    const server = newServer({ port });
    await running(server, async () => {
      assert.equal(isAlive(orphan.pid), false);
      await withJetStream(server.url, token, async (nats) => {
        const message = await (await jetstreamManager(nats)).streams.getMessage("S", { seq: 1 });
        assert.equal(message?.string(), "kept");
      });
    });
  });

  test("left on the former store by a killed hub that grew is ended by the next hub", async () => {
    const { hub, orphan } = await startHubBelow(join(dataDir, "nats", "store", "server"));
    hub.kill("SIGKILL");
    await once(hub, "exit");
    assert.equal(isAlive(orphan.pid), true);
    await running(newServer(), async () => assert.equal(isAlive(orphan.pid), false));
  });

  test("never ends a process that isn't its own, whatever the files contain", async () => {
    const stranger = spawn("sleep", ["60"]);
    try {
      mkdirSync(join(dataDir, "nats"), { recursive: true });
      writeFileSync(join(dataDir, "nats", "nats.pid"), `${stranger.pid}`);
      await running(newServer(), async () => assert.equal(isAlive(stranger.pid!), true));
    } finally {
      stranger.kill("SIGKILL");
    }
  });

  test("a port that another program has is explained", async () => {
    const other = createServer().listen(0, "127.0.0.1");
    await once(other, "listening");
    try {
      const { port } = other.address() as AddressInfo;
      await assert.rejects(newServer({ port }).start(), {
        code: "port_taken",
        message: /another program listens on 127\.0\.0\.1:\d+; set nats\.port/,
      });
    } finally {
      other.close();
    }
  });

  for (const [jetstream, hint] of [
    [false, /without JetStream.*systemctl disable --now nats-server/],
    [true, /nats\.servers to nats:\/\//],
  ] as const) {
    test(`a port that another nats-server ${jetstream ? "with" : "without"} JetStream has is explained`, async () => {
      const other = createServer((socket) => {
        socket.on("error", () => undefined);
        socket.write(`INFO {"version":"2.9.10","jetstream":${jetstream}}\r\n`);
      }).listen(0, "127.0.0.1");
      await once(other, "listening");
      try {
        const { port } = other.address() as AddressInfo;
        await assert.rejects(newServer({ port }).start(), { code: "port_taken", message: hint });
      } finally {
        other.close();
      }
    });
  }

  test("a server that doesn't start is reported with its output, and leaves the folder free", async () => {
    mkdirSync(join(dataDir, "nats"), { recursive: true });
    writeFileSync(join(dataDir, "nats", "store"), "a file where a folder must be");
    await assert.rejects(newServer().start(), {
      code: "unavailable",
      message: /does not start: .*storage directory/,
    });
    rmSync(join(dataDir, "nats", "store"));
    await running(newServer(), async () => undefined);
  });
});
