/** rsyslog sends to the input relp by omrelp, and to the input syslog over TLS. */

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { type TestContext, test } from "node:test";
import { issueCertificate, makeAuthority } from "#test/harness/certificates.ts";
import {
  type IntakeHub,
  missingRsyslog,
  RSYSLOG_LIBRARIES,
  RSYSLOG_MODULES,
  startIntakeHub,
} from "#test/harness/foreign-senders.ts";
import { assertLostInFlight, assertNoneLost, killWhileSending } from "#test/harness/kill-while-sending.ts";
import { until } from "#test/harness/until.ts";
import { Workspace } from "#test/harness/workspace.ts";

/** Modules of Debian's main package. */
const OWN_MODULES = "/usr/lib/x86_64-linux-gnu/rsyslog";

/** Starts rsyslogd with this action; returns what sends lines through it, and what it has said of errors. */
async function startRsyslog({ workspace }: IntakeHub, settings: string, action: string) {
  const socket = workspace.path("log.sock");
  const config = workspace.path("rsyslog.conf");
  mkdirSync(workspace.path("spool"));
  writeFileSync(
    config,
    `global(workDirectory="${workspace.path("spool")}" ${settings})
module(load="imuxsock" SysSock.Use="off")
input(type="imuxsock" Socket="${socket}" RateLimit.Interval="0")
${action}
`,
  );
  const modules = `${RSYSLOG_MODULES}:${OWN_MODULES}`;
  const child = spawn(
    "/usr/sbin/rsyslogd",
    ["-n", "-f", config, "-i", workspace.path("pid"), "-M", modules],
    {
      stdio: ["ignore", "ignore", "pipe"],
      env: { ...process.env, LD_LIBRARY_PATH: RSYSLOG_LIBRARIES },
    },
  );
  workspace.defer(() => child.kill("SIGKILL"));
  let said = "";
  child.stderr.on("data", (text: Buffer) => (said += text.toString()));
  await until("rsyslog's socket", () => existsSync(socket));
  const send = async (texts: readonly string[]): Promise<void> => {
    const logger = spawn("logger", ["-u", socket, "-t", "shop"], { stdio: ["pipe", "ignore", "inherit"] });
    logger.stdin.end(`${texts.join("\n")}\n`);
    const [status] = await once(logger, "exit");
    assert.equal(status, 0);
  };
  return { send, said: () => said };
}

/** A queue of fewer lines, such as that of 1,000 without a size, never goes to disk, and drops what comes when it is full for two seconds. */
const KEEPING = `action.resumeRetryCount="-1" action.resumeInterval="1" queue.type="LinkedList" queue.size="10000"
  queue.filename="tailrace" queue.maxDiskSpace="1g" queue.saveOnShutdown="on"`;

test("relp: what rsyslog's omrelp sends is found, also after a kill of the hub while it sends", {
  skip: missingRsyslog("omrelp.so"),
}, async (t: TestContext) => {
  const intake = await startIntakeHub(t, (at) => `relp { host => "127.0.0.1" port => ${at} }`);
  const { send } = await startRsyslog(
    intake,
    "",
    `module(load="omrelp")
action(type="omrelp" target="127.0.0.1" port="${intake.port}" template="RSYSLOG_SyslogProtocol23Format" ${KEEPING})`,
  );
  const sent = await killWhileSending(intake, { batch: 300, send });
  const again = assertNoneLost(sent, sent.settled);
  t.diagnostic(`${sent.all} lines sent, 0 lost, ${again} repeated`);
});

test("syslog over TLS: all is found of what rsyslog sends by RFC 5425 but what was in flight when the hub was killed", {
  skip: missingRsyslog("lmnsd_ossl.so"),
}, async (t: TestContext) => {
  const keys = new Workspace(t);
  const authority = makeAuthority(keys.folder);
  const server = issueCertificate(keys.folder, "hub", authority, ["127.0.0.1", "localhost"]);
  const intake = await startIntakeHub(
    t,
    (at) =>
      `syslog { host => "127.0.0.1" port => ${at} ssl_enabled => true ssl_certificate => "${server.certificate}" ssl_key => "${server.key}" }`,
  );
  const { send, said } = await startRsyslog(
    intake,
    `defaultNetstreamDriver="ossl" defaultNetstreamDriverCAFile="${authority.certificate}"`,
    `action(type="omfwd" target="localhost" port="${intake.port}" protocol="tcp" TCP_Framing="octet-counted"
  StreamDriver="ossl" StreamDriverMode="1" StreamDriverAuthMode="x509/name" StreamDriverPermittedPeers="localhost"
  template="RSYSLOG_SyslogProtocol23Format" ${KEEPING})`,
  );
  const sent = await killWhileSending(intake, {
    batch: 300,
    send,
    // It notices when it writes.
    noticed: async ({ sendMore }) => {
      await until("the end of the connection", async () => {
        if (/TCPSendBuf error|cannot connect/i.test(said())) return true;
        await sendMore();
        return false;
      });
    },
  });
  const lost = assertLostInFlight(sent);
  t.diagnostic(`${sent.all} lines sent, ${lost} lost`);
});
