import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { Random } from "#test/support/engine/random.ts";
import { parseJson } from "./json.ts";
import { parseJsonSteps } from "./json-steps.ts";

/** The value, or the message of the error. */
function outcome(parse: () => unknown): unknown {
  try {
    return parse();
  } catch (error) {
    return (error as Error).message;
  }
}

function inSteps(text: string): { value: unknown; steps: number } {
  const running = parseJsonSteps(text);
  let steps = 0;
  let step = running.next();
  for (; step.done !== true; step = running.next()) steps++;
  return { value: step.value, steps };
}

const random = new Random(11);

function scalar(): unknown {
  const long = "x".repeat(random.below(60));
  return random.pick([1.5, -3, true, null, '"', "\\", `\\"${long}`, long, "[{,:}]", "é\u2028"]);
}

function container(depth: number, size: number): unknown {
  const member = (): unknown =>
    depth > 0 && random.below(3) === 0 ? container(depth - 1, random.below(Math.ceil(size / 6))) : scalar();
  if (random.below(2) === 0) return Array.from({ length: size }, member);
  const keys = Array.from({ length: size }, (_, at) =>
    random.pick([`k${at}`, `${at}`, '"', "a\\", "__proto__"]),
  );
  const text = keys.map((key) => `${JSON.stringify(key)} : ${JSON.stringify(member())}`);
  return parseJson(`{${text.join(" ,")}}`);
}

suite("JSON that is parsed in steps", () => {
  test("has the value that it has at once", () => {
    for (let round = 0; round < 25; round++) {
      const value = container(3, 40 + random.below(400));
      const text = JSON.stringify(value, null, random.below(3));
      const { value: found, steps } = inSteps(text);
      assert.deepEqual(found, parseJson(text));
      assert.equal(JSON.stringify(found), JSON.stringify(parseJson(text)), "keys in their order");
      if (text.length > 200_000) assert.ok(steps > 4);
    }
  });

  test("fails, or not, as it does at once, wherever something is wrong", () => {
    const whole = JSON.stringify({
      a: Array.from({ length: 9_000 }, (_, at) => ({ at })),
      b: [[1], {}],
      c: "",
    });
    for (let round = 0; round < 60; round++) {
      const at = random.below(round % 2 === 0 ? 40 : whole.length);
      const put = random.pick(["", ",", "]", "}", "[", "{", '"', ":", " ", "1", "x"]);
      const text = whole.slice(0, at) + put + whole.slice(at + random.below(2));
      assert.deepEqual(
        outcome(() => inSteps(text).value),
        outcome(() => parseJson(text)),
      );
    }
  });

  test("keeps whole numbers beyond 2^53", () => {
    const text = `{"n":[${Array.from({ length: 5_000 }, () => "9007199254740993").join(",")}]}`;
    const { n } = inSteps(text).value as { n: bigint[] };
    assert.equal(n.length, 5_000);
    assert.ok(n.every((each) => each === 9_007_199_254_740_993n));
  });

  const odd: readonly string[] = [
    `${" ".repeat(40_000)}[1]`,
    `"${"x".repeat(40_000)}"`,
    `[${"1,".repeat(40_000)}]`,
    `[${"[],".repeat(20_000)}[]] x`,
    `{"a":{"b":[${"1,".repeat(40_000)}1],},"c":1}`,
    `{"a":1,"a":[${"1,".repeat(40_000)}1],"b":2,"a":3}`,
    ...["1", "-", "1e", "1.", '"x"', ""].map((put) => `{"a":${put}[${"1,".repeat(40_000)}1],"b":2}`),
    "[".repeat(40_000),
  ];
  for (const text of odd) {
    test(`${text.slice(0, 20)} … is what it is at once`, () => {
      assert.deepEqual(
        outcome(() => inSteps(text).value),
        outcome(() => parseJson(text)),
      );
    });
  }
});
