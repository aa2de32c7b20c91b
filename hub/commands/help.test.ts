import assert from "node:assert/strict";
import { test } from "node:test";
import { parseHubCommand } from "#hub/cli.ts";
import { COMMAND_HELP } from "./command-help.ts";
import { helpText } from "./help.ts";

/** Options that every command takes. */
const SHARED = ["-c", "hub.yml", "-E", "http.port=0", "--path.data", "/srv"];

/** Returns the words of a command line as a shell would; a pipe's last command counts. */
function wordsOf(line: string): string[] {
  const own = line.slice(line.lastIndexOf("tailrace-hub ")).split(" ").slice(1).join(" ");
  return [...own.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? "");
}

for (const [name, { example, options = "" }] of Object.entries(COMMAND_HELP)) {
  test(`the help of ${name} names options and an example that are understood`, () => {
    const words = wordsOf(example);
    assert.ok(words.join(" ").startsWith(name), example);
    assert.notEqual(parseHubCommand([...words, ...(name === "run" ? [] : SHARED)]).name, "help");
    for (const [, option] of options.matchAll(/^ {2}--(\S+)/gm)) {
      const given = words.some((word) => word === `--${option}`);
      if (!given)
        assert.doesNotThrow(() => parseHubCommand([...words, ...withValue(option!, options)]), option);
    }
    assert.match(helpText(name.split(" "), {}), /^Usage: tailrace-hub .*--path\.data DIR.*Example\n {2}\S/s);
  });
}

/** Returns the option with a value of its kind. */
function withValue(option: string, options: string): string[] {
  const [, kind = ""] = new RegExp(`^  --${option} ([A-Z]+)`, "m").exec(options) ?? [];
  const values: Readonly<Record<string, string>> = {
    ROLE: "admin",
    TIME: "1h",
    N: "10",
    KIND: "public",
    PART: "indices",
  };
  return kind === "" ? [`--${option}`] : [`--${option}`, values[kind] ?? "x"];
}

for (const [args, words] of [
  [["--help"], []],
  [["-c", "hub.yml", "--help"], []],
  [["pipeline", "--help"], ["pipeline"]],
  [
    ["pipeline", "check", "x.conf", "-h"],
    ["pipeline", "check", "x.conf"],
  ],
  [
    ["help", "user", "add"],
    ["user", "add"],
  ],
] as const) {
  test(`${args.join(" ")} asks for help`, () => {
    assert.deepEqual(parseHubCommand(args), { name: "help", words });
  });
}

test("the program's help names every command, a group's help its actions", () => {
  const overview = helpText([], {});
  for (const name of Object.keys(COMMAND_HELP)) assert.match(overview, new RegExp(`^  ${name}\\b`, "m"));
  assert.match(helpText(["keystore"], {}), /keystore create\n.*keystore add NAME\n.*ACTION --help/s);
  assert.throws(() => helpText(["serach"], {}), {
    code: "usage_invalid",
    message: /did you mean "search"\? See tailrace-hub --help$/,
  });
});

test("the help says which settings and data hold without options", () => {
  const installed = {
    TAILRACE_HUB_CONFIG: "/etc/tailrace/hub.yml",
    TAILRACE_HUB_DATA: "/var/lib/tailrace-hub",
  };
  assert.match(
    helpText(["search"], installed),
    /default: \/etc\/tailrace\/hub\.yml\).*default: \/var\/lib\/tailrace-hub\)/s,
  );
  assert.match(helpText([], {}), /default: \.\/data\)/);
});
