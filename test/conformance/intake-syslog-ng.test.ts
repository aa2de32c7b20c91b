/** syslog-ng sends to the input syslog by RFC 5424 with counted octets, over TCP and TLS, also while the hub is killed. */

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { type TestContext, test } from "node:test";
import { issueCertificate, makeAuthority } from "#test/harness/certificates.ts";
import { startIntakeHub, syslogNg } from "#test/harness/foreign-senders.ts";
import { assertLostInFlight, killWhileSending } from "#test/harness/kill-while-sending.ts";
import { until } from "#test/harness/until.ts";
import { Workspace } from "#test/harness/workspace.ts";

const RELIABLE = "disk-buffer(disk-buf-size(10000000) mem-buf-size(1000000) reliable(yes) dir(DIR))";

for (const transport of ["tcp", "tls"])
  test(
    `syslog over ${transport}: all is found of what syslog-ng sends but what was in flight when the hub was killed`,
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
  const intake = await startIntakeHub(
    t,
    (at) => `syslog { host => "127.0.0.1" port => ${at} protocols => ["tcp"] ${ssl} }`,
  );
  const { workspace, port } = intake;
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
  const send = async (texts: readonly string[]): Promise<void> => {
    const logger = spawn("logger", ["-u", socket, "-t", "shop"], { stdio: ["pipe", "ignore", "inherit"] });
    logger.stdin.end(`${texts.join("\n")}\n`);
    const [status] = await once(logger, "exit");
    assert.equal(status, 0);
  };
  const sent = await killWhileSending(intake, {
    batch: 300,
    send,
    noticed: async () => {
      await until("the end of the connection", () => /connection broken|EOF occurred/i.test(said));
    },
  });
  // Each logger has a connection of its own, and syslog-ng reads several by turns: the ends of two batches come mixed.
  const lost = assertLostInFlight(sent, "many");
  t.diagnostic(`${sent.all} lines sent, ${lost} lost`);
}
