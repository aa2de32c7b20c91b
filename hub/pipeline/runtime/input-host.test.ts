import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { test } from "node:test";
import { SourceText } from "#hub/pipeline/language/syntax-tree.ts";
import { compilePipeline, loadAllPlugins } from "#hub/pipeline/program/compile.ts";
import { RegexpGuard } from "#hub/pipeline/regexp/regexp-guard.ts";
import { systemClock } from "#proto/kit/clock.ts";
import { sendingLogger, silentLogger } from "#proto/kit/log.ts";
import { TrustedProxies } from "#proto/kit/net/trusted-proxies.ts";
import { freePort } from "#test/harness/free-ports.ts";
import { TestClock } from "#test/support/agent/recording-output.ts";
import { InputHost } from "./input-host.ts";
import { intakeShares } from "./intake-shares.ts";
import type { PipelineMetrics } from "./pipeline-metrics.ts";
import type { InputReach } from "./running-input.ts";

test("connections that are refused are in the log once a minute at most, with the address, the limit and what helps", () => {
  const lines: string[] = [];
  const clock = new TestClock();
  const { connections, onRefused } = intakeShares(
    sendingLogger("info", (line) => lines.push(line)),
    clock,
    new TrustedProxies([]),
  );
  connections.take("192.0.2.1", 4_096);
  const refuse = (): void => {
    assert.throws(() => connections.take("192.0.2.1"), { code: "overloaded" });
    onRefused("192.0.2.1", new Error("4096 connections are open for you"));
  };
  refuse();
  clock.ms += 59_000;
  refuse();
  assert.equal(lines.length, 1);
  assert.match(
    lines[0]!,
    /refuses connections from 192\.0\.2\.1, which has 4096 of the 8192 .*proxy_protocol/,
  );
  clock.ms += 1_000;
  refuse();
  assert.equal(lines.length, 2);
});

for (const isFull of [false, true]) {
  test(`a stopping input ${isFull ? "gives up what a full log doesn't take" : "answers what the log takes"}`, async (t) => {
    await loadAllPlugins();
    const port = await freePort();
    const source = new SourceText("input.conf", `input { relp { host => "127.0.0.1" port => ${port} } }`);
    const { inputs } = compilePipeline([source], {
      variables: {},
      clock: systemClock,
      random: Math.random,
      guard: new RegexpGuard(),
    });
    const stored = Promise.withResolvers<void>();
    const reached = Promise.withResolvers<void>();
    const clock = new TestClock();
    if (isFull) clock.sleep = async () => undefined;
    const reach: Partial<InputReach> = {
      publish: async () => {
        reached.resolve();
        await stored.promise;
      },
      states: { of: () => undefined } as never,
    };
    const log = silentLogger();
    const counter = { inc: () => undefined };
    const host = new InputHost({
      reach: reach as InputReach,
      log,
      clock,
      metrics: {
        inputEvents: counter,
        inputDrops: counter,
        inputCuts: counter,
        inputRestarts: counter,
      } as unknown as PipelineMetrics,
      shares: intakeShares(log, clock, new TrustedProxies([])),
    });
    await host.apply([{ pipeline: "main", input: inputs[0]!, isManaged: false }]);
    const socket = connect(port, "127.0.0.1");
    t.after(() => socket.destroy());
    const answers = socket.toArray();
    await once(socket, "connect");
    socket.write("1 syslog 8 <13>line\n");
    await reached.promise;
    const stopped = host.stop();
    if (!isFull) stored.resolve();
    await stopped;
    assert.equal(String(Buffer.concat((await answers) as Buffer[])), isFull ? "" : "1 rsp 6 200 OK\n");
  });
}
