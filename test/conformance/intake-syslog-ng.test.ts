/** syslog-ng sends to the input syslog by RFC 5424 with counted octets, over TCP and TLS, also while the hub is killed. */

import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { type TestContext, test } from "node:test";
import { issueCertificate, makeAuthority } from "#test/harness/certificates.ts";
import { lines, startIntakeHub, syslogNg } from "#test/harness/foreign-senders.ts";
import { until } from "#test/harness/until.ts";
import { Workspace } from "#test/harness/workspace.ts";

const RELIABLE = "disk-buffer(disk-buf-size(10000000) mem-buf-size(1000000) reliable(yes) dir(DIR))";

for (const transport of ["tcp", "tls"])
  test(
    `syslog over ${transport}: what syslog-ng sends is found, and what it took while the hub was killed`,
    {
      skip: syslogNg.missing,
    },
    (t) => sendOverKill(t, transport),
  );

async function sendOverKill(t: TestContext, transport: string): Promise<void> {
  const keys = new Workspace(t);
  const authority = makeAuthority(keys.folder);
  const { certificate, key } = issueCertificate(keys.folder, "hub", authority, ["127.0.0.1"]);
  const isTls = transport === "tls";
  const ssl = isTls ? `ssl_enabled => true ssl_certificate => "${certificate}" ssl_key => "${key}"` : "";
  const { workspace, port, hub, messages } = await startIntakeHub(
    t,
    (at) => `syslog { host => "127.0.0.1" port => ${at} protocols => ["tcp"] ${ssl} }`,
  );
  const tls = isTls ? `tls(ca-file("${authority.certificate}") peer-verify(required-trusted))` : "";
  const [socket, config, folder] = [
    workspace.path("log.sock"),
    workspace.path("sng.conf"),
    workspace.path("sng"),
  ];
  mkdirSync(folder);
  writeFileSync(
    config,
    `@version: 3.38
options { time-reopen(1); };
source s_src { unix-stream("${socket}"); };
destination d_tailrace { syslog("127.0.0.1" transport("${transport}") port(${port}) ${tls} ${RELIABLE.replace("DIR", `"${folder}"`)}); };
log { source(s_src); destination(d_tailrace); };
`,
  );
  const own = ["persist", "pid", "ctl"].map((name) => workspace.path(`sng/${name}`));
  const child = spawn(
    syslogNg.path,
    [...syslogNg.args, "-F", "-e", "-f", config, "-R", own[0]!, "-p", own[1]!, "-c", own[2]!],
    { env: syslogNg.env, stdio: ["ignore", "ignore", "pipe"] },
  );
  workspace.defer(() => child.kill("SIGKILL"));
  let said = "";
  child.stderr.on("data", (text: Buffer) => (said += text.toString()));
  await until("syslog-ng's socket", () => existsSync(socket));
  const send = (texts: readonly string[]): void => {
    execFileSync("logger", ["-u", socket, "-t", "shop"], { input: `${texts.join("\n")}\n` });
  };
  send(lines(300));
  assert.deepEqual(await messages(300), lines(300));
  await hub.kill9();
  // TCP has no acknowledgement: what is written before the sender sees the end of the connection is lost.
  await until("the end of the connection", () => {
    if (/connection broken|EOF occurred/i.test(said)) return true;
    send(["line -1"]);
    return false;
  });
  send(lines(300, 300));
  await hub.start();
  await until("the last line", async () => (await messages(600)).includes("line 599"));
  assert.deepEqual(
    (await messages(600)).filter((text) => text !== "line -1"),
    lines(600),
  );
}
