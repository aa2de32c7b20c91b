import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import manifest from "../package.json" with { type: "json" };
import { main, settingsReference } from "./cli.ts";
import { INPUTS } from "./inputs/all.ts";

const launcher = fileURLToPath(new URL("./bin/tailrace-agent", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "tailrace-cli-"));
after(() => rmSync(folder, { recursive: true, force: true }));

const good = join(folder, "good.yml");
const bad = join(folder, "bad.yml");
writeFileSync(
  good,
  `shipper.inputs:\n  - type: log\n    paths: [${folder}/*.log]\nstatus.port: 0\noutput.pipeline.servers: ["nats://127.0.0.1:1"]\n`,
  {
    mode: 0o600,
  },
);
writeFileSync(bad, "shipper.inputs:\n  - type: log\n    paths: [/a]\nnmae: x\n", { mode: 0o600 });

for (const [args, status, stdout, stderr] of [
  [["--help"], 0, /usage: tailrace-agent \[run\] -c agent\.yml/, /^$/],
  [
    ["registry", "reset", "--help"],
    0,
    /usage: tailrace-agent registry .*example: tailrace-agent registry/s,
    /^$/,
  ],
  [["help", "enroll"], 0, /--ca-fingerprint SHA256/, /^$/],
  [["rnu", "--help"], 2, /^$/, /did you mean "run"\?/],
  [
    ["--version"],
    0,
    new RegExp(
      String.raw`^tailrace-agent ${RegExp.escape(manifest.version)} \(shipper 6\.5\.0\), node v2[4-9]`,
    ),
    /^$/,
  ],
  [["--print-schema"], 0, /"harvester_limit"/, /^$/],
  [["test", "config", "-c", good], 0, /settings are right: 1 input, output pipeline/, /^$/],
  [["test", "output", "-c", good], 1, /127\.0\.0\.1:1: nothing listens there; is the hub running/, /^$/],
  [["test", "config", "-c", bad], 2, /^$/, /bad\.yml:4:1: unknown setting "nmae"; did you mean "name"\?/],
  [
    ["test", "config", "-c", join(folder, "none.yml")],
    2,
    /^$/,
    /cannot read settings file .*none\.yml: there is no such file/,
  ],
  [["rnu"], 2, /^$/, /unknown command "rnu"; did you mean "run"\?/],
  [["--colour"], 2, /^$/, /--colour.*--help lists the options/s],
  [["registry", "-c", good, "--path.data", join(folder, "data")], 0, /^0 files/, /^$/],
] as const) {
  test(`tailrace-agent ${args.join(" ").replaceAll(folder, "…")} ends with ${status}`, async () => {
    const said = { out: "", error: "" };
    const terminal = {
      print: (text: string) => void (said.out += text),
      warn: (text: string) => void (said.error += text),
    };
    const ended = await main(args, process.env, terminal);
    assert.deepEqual(
      [ended, stdout.test(said.out), stderr.test(said.error)],
      [status, true, true],
      said.out + said.error,
    );
  });
}

test("settings and data are in the installation's folders, unless the command line names others", async () => {
  const env = { TAILRACE_AGENT_CONFIG: good, TAILRACE_AGENT_DATA: join(folder, "lib") };
  const said: string[] = [];
  const terminal = {
    print: (text: string) => void said.push(text),
    warn: (text: string) => void said.push(text),
  };
  assert.equal(await main(["registry"], env, terminal), 0);
  assert.deepEqual([said.join(""), existsSync(join(folder, "lib/registry"))], ["0 files\n", true]);
  assert.equal(await main(["run", "--help"], env, terminal), 0);
  assert.match(said.at(-1)!, new RegExp(`default: ${good}\\).*default: ${folder}/lib\\)`, "s"));
  assert.equal(await main(["test", "config", "-c", bad], env, terminal), 2);
});

test("the launcher is found through a link, keeps its process id, and ends with 0 on SIGTERM while the hub is away", async () => {
  const link = join(folder, "agent-link");
  symlinkSync(launcher, link);
  writeFileSync(join(folder, "a.log"), "never acknowledged\n");
  const child = spawn(
    link,
    ["-c", good, "--path.data", join(folder, "run"), "-E", "shutdown_timeout=100ms", "--ready-json"],
    {
      stdio: ["ignore", "pipe", "ignore"],
    },
  );
  const [chunk] = (await once(child.stdout, "data")) as [Buffer];
  const ready = JSON.parse(chunk.toString()) as { pid: number; status_port: number };
  assert.equal(ready.pid, child.pid);
  const health = await fetch(`http://127.0.0.1:${ready.status_port}/health`);
  assert.equal(((await health.json()) as { status: string }).status, "degraded");
  child.kill("SIGTERM");
  assert.deepEqual(await once(child, "exit"), [0, null]);
});

test("every input there is stands in the list, with a description for each setting", () => {
  const inputs = fileURLToPath(new URL("./inputs/", import.meta.url));
  const files = readdirSync(inputs).filter((name) => INPUTS.some(({ type }) => name === `${type}.ts`));
  assert.equal(files.length, INPUTS.length);
  for (const { type, schema } of INPUTS) {
    for (const [name, property] of Object.entries(schema.properties)) {
      assert.ok((property as { description?: string }).description, `${type}.${name} has no description`);
    }
  }
});

test("docs/agent-settings.md is generated from the schema; `tailrace-agent --print-settings > docs/agent-settings.md` writes them", () => {
  const written = readFileSync(fileURLToPath(new URL("../docs/agent-settings.md", import.meta.url)), "utf8");
  assert.equal(written, settingsReference());
});

test("test config names an input whose port is taken", async (t) => {
  const occupant = createServer().listen(0, "127.0.0.1");
  t.after(() => occupant.close());
  await once(occupant, "listening");
  const { port } = occupant.address() as AddressInfo;
  const path = join(folder, "taken.yml");
  writeFileSync(path, `shipper.inputs: [{type: tcp, id: lines, host: "127.0.0.1:${port}"}]\n`, {
    mode: 0o600,
  });
  const warnings: string[] = [];
  const terminal = { print: () => undefined, warn: (text: string) => void warnings.push(text) };
  assert.equal(await main(["test", "config", "-c", path], {}, terminal), 0);
  assert.match(
    warnings.join(""),
    /^warning: input lines: .*cannot listen on tcp .*another process listens there/,
  );
});
