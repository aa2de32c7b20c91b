/** rsyslog sends to the input relp by omrelp, and to the input syslog over TLS. */

import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { type TestContext, test } from "node:test";
import { issueCertificate, makeAuthority } from "#test/harness/certificates.ts";
import {
  type IntakeHub,
  lines,
  missingRsyslog,
  RSYSLOG_LIBRARIES,
  RSYSLOG_MODULES,
  startIntakeHub,
} from "#test/harness/foreign-senders.ts";
import { until } from "#test/harness/until.ts";
import { Workspace } from "#test/harness/workspace.ts";

/** Modules of Debian's main package. */
const OWN_MODULES = "/usr/lib/x86_64-linux-gnu/rsyslog";

/** Starts rsyslogd with this action; returns what sends lines through it. */
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
      stdio: ["ignore", "ignore", "inherit"],
      env: { ...process.env, LD_LIBRARY_PATH: RSYSLOG_LIBRARIES },
    },
  );
  workspace.defer(() => child.kill("SIGKILL"));
  await until("rsyslog's socket", () => existsSync(socket));
  return (texts: readonly string[]): void => {
    execFileSync("logger", ["-u", socket, "-t", "shop"], { input: `${texts.join("\n")}\n` });
  };
}

const RETRY = `action.resumeRetryCount="-1" action.resumeInterval="1" queue.type="LinkedList"`;

test("relp: what rsyslog's omrelp sends is found, also after a kill of the hub", {
  skip: missingRsyslog("omrelp.so"),
}, async (t: TestContext) => {
  const intake = await startIntakeHub(t, (at) => `relp { host => "127.0.0.1" port => ${at} }`);
  const send = await startRsyslog(
    intake,
    "",
    `module(load="omrelp")
action(type="omrelp" target="127.0.0.1" port="${intake.port}" template="RSYSLOG_SyslogProtocol23Format" ${RETRY})`,
  );
  send(lines(300));
  await intake.messages(300);
  await intake.hub.kill9();
  send(lines(300, 300));
  await intake.hub.start();
  const found = await intake.messages(600);
  assert.deepEqual([...new Set(found)], lines(600));
});

test("syslog over TLS: what rsyslog sends by RFC 5425 is found", {
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
  const send = await startRsyslog(
    intake,
    `defaultNetstreamDriver="ossl" defaultNetstreamDriverCAFile="${authority.certificate}"`,
    `action(type="omfwd" target="localhost" port="${intake.port}" protocol="tcp" TCP_Framing="octet-counted"
  StreamDriver="ossl" StreamDriverMode="1" StreamDriverAuthMode="x509/name" StreamDriverPermittedPeers="localhost"
  template="RSYSLOG_SyslogProtocol23Format" ${RETRY})`,
  );
  send(lines(300));
  assert.deepEqual(await intake.messages(300), lines(300));
});
