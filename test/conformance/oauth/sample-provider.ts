/** A scripted identity provider and API, for tests of the client; written independently of the product's provider. */

import { createHash, randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** How the next token request is answered instead of rightly. */
export type Mishap =
  | { readonly kind: "status"; readonly status: number; readonly headers?: Record<string, string> }
  | { readonly kind: "error"; readonly status: number; readonly error: string }
  /** Does its work, then the connection breaks. */
  | { readonly kind: "lost answer" };

interface Grant {
  readonly challenge: string | null;
  readonly redirectUri: string;
}

/** A request as it came, with its parameters of query and body. */
export interface Seen {
  readonly path: string;
  readonly authorization: string | undefined;
  readonly query: URLSearchParams;
  readonly form: URLSearchParams;
}

export class SampleProvider {
  /** Changes the refresh token at each use. */
  rotates = false;
  /** Accepts the refresh token before the newest one, as providers with a grace period do. */
  grace = false;
  /** Seconds; null: the answer has no expires_in. */
  expiresIn: number | null = 3_600;
  /** json, form-encoded, or json without token_type. */
  answerAs: "json" | "form" | "bare" = "json";
  /** Whether the first answer has a refresh token. */
  givesRefreshToken = true;
  /** `iss` of the redirect; null: none. */
  iss: string | null = null;
  /** Claims of the ID token; null: none is given. */
  claims: Record<string, unknown> | null = null;
  readonly mishaps: Mishap[] = [];
  readonly seen: Seen[] = [];
  readonly clientId = "sample-client";
  readonly clientSecret = randomBytes(8).toString("hex");
  origin = "";
  readonly #server: Server;
  readonly #codes = new Map<string, Grant>();
  /** When each access token is over, ms since 1970. */
  readonly #access = new Map<string, number>();
  readonly #issued: string[] = [];
  #refresh = "";
  #refreshBefore = "";

  constructor() {
    this.#server = createServer((request, response) => {
      this.#answer(request, response).catch(() => response.destroy());
    });
  }

  async start(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    this.origin = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  /** Token requests of a grant type. */
  requests(grantType: string): Seen[] {
    return this.seen.filter(
      ({ query, form }) => (form.get("grant_type") ?? query.get("grant_type")) === grantType,
    );
  }

  /** Makes all access tokens worthless, as a password change does. */
  forgetAccessTokens(): void {
    this.#access.clear();
  }

  /** Entries of the API's log, oldest first; each is answered where it is newer than `since`. */
  entries = 3;

  /** All secrets: the client's secret and every token that was issued. */
  get secrets(): string[] {
    return [this.clientSecret, ...this.#issued];
  }

  /** Makes the refresh token worthless. */
  forgetRefreshToken(): void {
    this.#refresh = "";
    this.#refreshBefore = "";
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "/", this.origin);
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const form = new URLSearchParams(Buffer.concat(chunks).toString());
    const { authorization } = request.headers;
    this.seen.push({ path: url.pathname, authorization, query: url.searchParams, form });
    if (url.pathname === "/o/oauth2/v2/auth") return this.#approve(url, response);
    if (url.pathname === "/token") return this.#token(request, response, url, form);
    if (url.pathname === "/revoke") {
      json(response, 200, {});
      return;
    }
    if (url.pathname === "/.well-known/openid-configuration") {
      json(response, 200, this.#metadata());
      return;
    }
    if (url.pathname.startsWith("/api/")) return this.#api(url, authorization, response);
    json(response, 404, {});
  }

  #approve({ searchParams }: URL, response: ServerResponse): void {
    const redirectUri = searchParams.get("redirect_uri") ?? "";
    const code = randomBytes(16).toString("hex");
    this.#codes.set(code, { challenge: searchParams.get("code_challenge"), redirectUri });
    const target = new URL(redirectUri);
    target.searchParams.set("code", code);
    target.searchParams.set("state", searchParams.get("state") ?? "");
    if (this.iss !== null) target.searchParams.set("iss", this.iss);
    response.writeHead(303, { location: target.href }).end();
  }

  #token(request: IncomingMessage, response: ServerResponse, url: URL, form: URLSearchParams): void {
    const mishap = this.mishaps.shift();
    if (mishap?.kind === "status") {
      response.writeHead(mishap.status, mishap.headers).end("busy");
      return;
    }
    if (mishap?.kind === "error") {
      json(response, mishap.status, { error: mishap.error });
      return;
    }
    const parameters = new URLSearchParams([...url.searchParams, ...form]);
    const basic = Buffer.from(request.headers.authorization?.split(" ")[1] ?? "", "base64").toString();
    const secret = parameters.get("client_secret") ?? basic.split(":")[1];
    if (secret !== this.clientSecret) {
      json(response, 401, { error: "invalid_client" });
      return;
    }
    const error =
      parameters.get("grant_type") === "refresh_token"
        ? this.#useRefresh(parameters)
        : this.#useCode(parameters);
    if (error !== null) {
      json(response, 400, { error });
      return;
    }
    const tokens = this.#issue(parameters.get("grant_type") === "refresh_token");
    if (mishap?.kind === "lost answer") {
      request.socket.destroy();
      return;
    }
    this.#send(response, tokens);
  }

  #useCode(parameters: URLSearchParams): string | null {
    const grant = this.#codes.get(parameters.get("code") ?? "");
    this.#codes.delete(parameters.get("code") ?? "");
    const verifier = parameters.get("code_verifier") ?? "";
    const challenge = createHash("sha256").update(verifier).digest("base64url");
    const good =
      grant?.redirectUri === parameters.get("redirect_uri") && (grant?.challenge ?? challenge) === challenge;
    return good ? null : "invalid_grant";
  }

  #useRefresh(parameters: URLSearchParams): string | null {
    const token = parameters.get("refresh_token");
    const good = token === this.#refresh || (this.grace && token === this.#refreshBefore);
    return good && token !== "" ? null : "invalid_grant";
  }

  #issue(refreshed: boolean): Record<string, unknown> {
    const access = randomBytes(16).toString("hex");
    this.#access.set(access, Date.now() + (this.expiresIn ?? 3_600) * 1_000);
    this.#issued.push(access);
    const fresh = !refreshed || this.rotates;
    if (fresh) {
      this.#refreshBefore = this.#refresh;
      this.#refresh = randomBytes(16).toString("hex");
      this.#issued.push(this.#refresh);
    }
    return {
      access_token: access,
      ...(this.answerAs === "bare" ? {} : { token_type: "Bearer" }),
      ...(this.expiresIn === null ? {} : { expires_in: this.expiresIn }),
      ...(this.claims === null ? {} : { id_token: this.#idToken() }),
      ...(fresh && this.givesRefreshToken ? { refresh_token: this.#refresh } : {}),
    };
  }

  #metadata(): Record<string, unknown> {
    return {
      issuer: this.origin,
      authorization_endpoint: `${this.origin}/o/oauth2/v2/auth`,
      token_endpoint: `${this.origin}/token`,
    };
  }

  /** A token from the token endpoint over a connection of one's own needs no signature check (OpenID Connect Core section 3.1.3.7). */
  #idToken(): string {
    const now = Math.floor(Date.now() / 1_000);
    const claims = { iss: this.origin, aud: this.clientId, iat: now, exp: now + 60, ...this.claims };
    const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");
    return `${part({ alg: "RS256" })}.${part(claims)}.${Buffer.from("unchecked").toString("base64url")}`;
  }

  #send(response: ServerResponse, tokens: Record<string, unknown>): void {
    if (this.answerAs !== "form") {
      json(response, 200, tokens);
      return;
    }
    const body = new URLSearchParams();
    for (const [name, value] of Object.entries(tokens)) body.set(name, String(value));
    response.writeHead(200, { "content-type": "application/x-www-form-urlencoded" }).end(body.toString());
  }

  #api(url: URL, authorization: string | undefined, response: ServerResponse): void {
    const target = url.searchParams.get("to");
    if (url.pathname === "/api/redirect" && target !== null) {
      response.writeHead(302, { location: target }).end();
      return;
    }
    const token = authorization?.replace(/^Bearer /, "") ?? "";
    if ((this.#access.get(token) ?? 0) > Date.now()) {
      json(response, 200, url.pathname === "/api/log" ? this.#log(url) : { data: [1, 2, 3] });
      return;
    }
    response.writeHead(401, { "www-authenticate": 'Bearer error="invalid_token"' }).end();
  }

  #log({ searchParams }: URL): object {
    const since = Number(searchParams.get("since") ?? 0);
    const numbers = Array.from({ length: this.entries }, (_, at) => at + 1).filter(
      (number) => number > since,
    );
    return { items: numbers.map((id) => ({ id, message: `entry ${id}` })) };
  }
}

function json(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}
