import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { Static } from "typebox";
import { schemaFault, Type } from "#proto/kit/schema.ts";
import { Workspace } from "#test/harness/workspace.ts";
import { ROOT, run, text } from "./tools.ts";

const strict = { additionalProperties: false };
const port = Type.Integer({ minimum: 1, maximum: 65_535 });
const name = Type.String({ pattern: "^[A-Za-z0-9_-]{1,255}$" });
/** Descriptor version 2, after the platform's reference of its file; the fields that are used. */
const DESCRIPTOR = Type.Object(
  {
    AWSEBDockerrunVersion: Type.Literal(2),
    volumes: Type.Array(
      Type.Object({ name, host: Type.Object({ sourcePath: Type.String() }, strict) }, strict),
    ),
    containerDefinitions: Type.Array(
      Type.Object(
        {
          name,
          image: Type.String({ minLength: 1 }),
          essential: Type.Boolean(),
          memory: Type.Integer({ minimum: 4 }),
          user: Type.Optional(Type.String()),
          command: Type.Optional(Type.Array(Type.String())),
          environment: Type.Optional(
            Type.Array(Type.Object({ name: Type.String(), value: Type.String() }, strict)),
          ),
          portMappings: Type.Optional(
            Type.Array(Type.Object({ hostPort: port, containerPort: port }, strict)),
          ),
          mountPoints: Type.Array(
            Type.Object(
              { sourceVolume: name, containerPath: Type.String(), readOnly: Type.Boolean() },
              strict,
            ),
          ),
        },
        strict,
      ),
      { minItems: 1 },
    ),
  },
  strict,
);
type Descriptor = Static<typeof DESCRIPTOR>;

const FILE = "deploy/multi-container/Dockerrun.aws.json";
const FILLED = {
  ACCOUNT_ID: "123456789012",
  REGISTRY_HOST: "registry.example.com",
  NATS_URL: "tls://hub.example.com:4222",
  DASHBOARD_HOST: "hub.example.com:5601",
};

function descriptorFaults(json: string): string[] {
  const descriptor = JSON.parse(json) as Descriptor;
  const fault = schemaFault(DESCRIPTOR, descriptor);
  if (fault !== undefined) return [`/${fault.path.join("/")}: ${fault.message}`];
  const volumes = descriptor.volumes.map((each) => each.name);
  return descriptor.containerDefinitions.flatMap((container) => [
    ...container.mountPoints
      .filter(({ sourceVolume }) => !volumes.includes(sourceVolume))
      .map(({ sourceVolume }) => `${container.name}: no volume ${sourceVolume}`),
    ...(/^<?\w+>?\.[\w.<>-]+\/[\w-]+:latest$/.test(container.image)
      ? []
      : [
          `${container.name}: image ${container.image} isn't <account_id>.<registry_host>/<repository>:latest`,
        ]),
  ]);
}

test("the descriptor has the platform's form", () => {
  assert.deepEqual(descriptorFaults(text(FILE)), []);
});

test("the descriptor has the values of the specification", () => {
  const { AWSEBDockerrunVersion, containerDefinitions } = JSON.parse(text(FILE)) as Descriptor;
  const app = containerDefinitions.find((each) => each.name === "app");
  const agent = containerDefinitions.find((each) => each.name === "agent");
  assert.equal(AWSEBDockerrunVersion, 2);
  assert.deepEqual(app?.portMappings, [{ hostPort: 80, containerPort: 3001 }]);
  assert.equal(app.memory, 512);
  assert.equal(agent?.memory, 128);
  assert.equal(agent.user, "root");
  assert.deepEqual(agent.command, ["--strict.perms=false"]);
  assert.ok(
    agent.environment?.some((each) => each.name === "TAILRACE_NATS_URL"),
    "its hub is in its environment",
  );
  const shared = (mounts: Descriptor["containerDefinitions"][number]["mountPoints"]) =>
    mounts.find((each) => each.containerPath === "/logs")?.sourceVolume;
  assert.equal(shared(app.mountPoints), shared(agent.mountPoints));
  assert.doesNotMatch(text(FILE), /token|secret|password/i);
});

const PLANTED = [
  ["another version", '"AWSEBDockerrunVersion": 2', '"AWSEBDockerrunVersion": 1'],
  ["a memory that isn't a number", '"memory": 128', '"memory": "128"'],
  ["an unknown field", '"essential"', '"esential"'],
  ["a missing volume", '"sourceVolume": "logs"', '"sourceVolume": "log"'],
  ["an image without tag", "tailrace-agent:latest", "tailrace-agent"],
] as const;

for (const [what, from, to] of PLANTED) {
  test(`the check finds ${what}`, () => {
    assert.notDeepEqual(descriptorFaults(text(FILE).replace(from, to)), []);
  });
}

test("the descriptor is filled from the environment, and nothing is left open", () => {
  const script = join(ROOT, "deploy/multi-container/render.sh");
  const { status, stdout, said } = run("bash", [script], { env: { PATH: process.env["PATH"], ...FILLED } });
  assert.equal(status, 0, said);
  assert.deepEqual(descriptorFaults(stdout), []);
  assert.doesNotMatch(stdout, /[<>]/);
  assert.match(stdout, /"123456789012\.registry\.example\.com\/tailrace-agent:latest"/);
  const { NATS_URL: _, ...less } = FILLED;
  const open = run("bash", [script], { env: { PATH: process.env["PATH"], ...less } });
  assert.deepEqual([open.status, open.stdout], [2, ""]);
  const wrong = run("bash", [script], { env: { PATH: process.env["PATH"], ...FILLED, NATS_URL: 'x"y' } });
  assert.equal(wrong.status, 2);
});

const SECRET = "c2VjcmV0LXBhc3N3b3Jk";
const REGISTRY = "123456789012.dkr.ecr.eu-west-1.amazonaws.com";
const PRINTS = `case "$2" in get-login) echo "docker login -u AWS -p ${SECRET} https://${REGISTRY}" ;; *) exit 2 ;; esac`;

test("the printed login command is entered, its secret on standard input alone", (t) => {
  const { status, said, calls, input } = login(t, PRINTS);
  assert.equal(status, 0, said);
  assert.deepEqual(calls, [
    "aws ecr get-login --no-include-email --profile program-user --region eu-west-1",
    `docker login --username AWS --password-stdin ${REGISTRY}`,
  ]);
  assert.equal(input, SECRET);
});

test("a command that prints the password alone is understood too", (t) => {
  const newer = `case "$2" in get-login-password) echo ${SECRET} ;; *) echo "invalid choice" >&2; exit 252 ;; esac`;
  const { status, said, calls, input } = login(t, newer);
  assert.equal(status, 0, said);
  assert.equal(calls.at(-1), `docker login --username AWS --password-stdin ${REGISTRY}`);
  assert.equal(input, SECRET);
});

test("output besides a login is never run", (t) => {
  const evil = `case "$2" in get-login) echo "docker login -u AWS -p ${SECRET} https://${REGISTRY}; touch $PWD/evil" ;; *) exit 2 ;; esac`;
  const { calls } = login(t, evil);
  assert.ok(!calls.some((call) => call.startsWith("touch")));
});

test("a login for another account is refused", (t) => {
  const { status, said, calls } = login(t, PRINTS.replace("123456789012", "999999999999"));
  assert.equal(status, 1);
  assert.match(said, /not for account 123456789012/);
  assert.ok(!calls.some((call) => call.startsWith("docker")));
});

test("a platform's command that fails, and a missing profile, are explained", (t) => {
  const failed = login(t, 'echo "no such profile" >&2; exit 255');
  assert.equal(failed.status, 1);
  assert.match(failed.said, /no such profile[\s\S]*gave no login for profile program-user/);
  assert.equal(login(t, PRINTS, { REGISTRY_PROFILE: "" }).status, 2);
});

/** Runs the login with stand-ins for both commands, traced; fails where the secret is seen. */
function login(t: TestContext, platform: string, env: NodeJS.ProcessEnv = {}) {
  const workspace = new Workspace(t);
  const noted = workspace.path("calls");
  const entered = workspace.path("input");
  for (const [name, body] of [
    ["aws", platform],
    ["docker", `cat > "${entered}"; echo "Login Succeeded"`],
    ["touch", ""],
  ] as const) {
    const script = `#!/bin/sh\necho "${name} $*" >> "${noted}"\n${body}\n`;
    writeFileSync(workspace.path("bin", name), script, { mode: 0o755 });
  }
  writeFileSync(noted, "");
  writeFileSync(entered, "");
  const outcome = run("bash", ["-x", join(ROOT, "deploy/multi-container/registry-login.sh")], {
    cwd: workspace.folder,
    env: {
      PATH: `${join(workspace.folder, "bin")}:/usr/bin:/bin`,
      REGISTRY_PROFILE: "program-user",
      REGISTRY_REGION: "eu-west-1",
      ACCOUNT_ID: "123456789012",
      ...env,
    },
  });
  const calls = readFileSync(noted, "utf8").split("\n").filter(Boolean);
  assert.ok(!outcome.said.includes(SECRET), "the secret was printed");
  assert.ok(!calls.join().includes(SECRET), "the secret was on a command line");
  return { ...outcome, calls, input: readFileSync(entered, "utf8") };
}
