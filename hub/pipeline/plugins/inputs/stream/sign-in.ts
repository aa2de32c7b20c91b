/** Sign-in of senders at inputs over HTTP and gRPC: the options, and the check of a request's credentials. */

import { createHash, timingSafeEqual } from "node:crypto";
import type { Static } from "typebox";
import type { InputContext } from "#hub/pipeline/plugins/input.ts";
import { flag, list, optional, options, text } from "#proto/kit/options.ts";

/** Options of an input whose senders sign in; without any of them everybody may send. */
export const SIGN_IN = {
  user: optional(text("user name that requests must send (Basic)")),
  password: optional(text("password that requests must send")),
  tokens: list("accepted tokens; a request must send one of them: Authorization: Bearer TOKEN"),
  api_keys: flag(
    "accepts API keys, access tokens and users of this hub that may ingest into every index; needs auth.mode: required",
    false,
  ),
};

const OPTIONS = options(SIGN_IN);

/** Tokens may follow any of these words; `Splunk` is what forwarders of that name write. */
const SCHEMES = ["bearer", "splunk", "token"];

export class SignIn {
  readonly #expected: readonly Buffer[];
  readonly #askHub: InputContext["mayIngest"] | undefined;

  /** `mayIngest` is asked where `api_keys` is set. */
  constructor(
    { user, password, tokens, api_keys }: Static<typeof OPTIONS>,
    mayIngest: InputContext["mayIngest"],
  ) {
    const basic = (name: string, secret: string): string =>
      `basic ${Buffer.from(`${name}:${secret}`).toString("base64")}`;
    this.#expected = [
      ...(user === undefined ? [] : [basic(user, password ?? "")]),
      ...tokens.flatMap((token) => SCHEMES.map((scheme) => `${scheme} ${token}`)),
    ].map(digest);
    this.#askHub = api_keys ? mayIngest : undefined;
  }

  /** True where everybody may send. */
  get isOpen(): boolean {
    return this.#expected.length === 0 && this.#askHub === undefined;
  }

  /** Returns true if the value of an Authorization header allows to send. Rejects with `overloaded`. */
  async accepts(authorization: string | undefined, ip: string): Promise<boolean> {
    if (this.isOpen) return true;
    if (authorization === undefined) return false;
    const given = credentialsOf(authorization).map(digest);
    if (this.#expected.some((expected) => given.some((each) => timingSafeEqual(expected, each)))) return true;
    return (await this.#askHub?.(authorization, ip)) === true;
  }
}

/** Returns what a header may mean, its scheme in small letters: the password of any user may be a token, as Splunk takes it. */
function credentialsOf(authorization: string): string[] {
  const [, scheme = "", secret = ""] = /^(\S+) +(.*)$/.exec(authorization.trim()) ?? [];
  const plain = `${scheme.toLowerCase()} ${secret}`;
  if (scheme.toLowerCase() !== "basic") return [plain];
  const pair = Buffer.from(secret, "base64").toString();
  return [plain, `bearer ${pair.slice(pair.indexOf(":") + 1)}`];
}

/** Digests have one length, so that the comparison reveals nothing of the secret's. */
function digest(value: string): Buffer {
  return createHash("sha256").update(value).digest();
}
