/** Requests at the authorization endpoint that must not end in a code, as data. The ids are those of the case list. */

/** Changes of a good request (undefined leaves a parameter out) and what must come back. */
export interface AuthorizationCase {
  readonly id: string;
  readonly name: string;
  readonly change: Readonly<Record<string, string | undefined>>;
  /** Parameter sent twice. */
  readonly twice?: string;
  /** The client is a public one. */
  readonly publicClient?: boolean;
  /** "page": 400 without a way on; else the error of the redirect, one of these. */
  readonly expect: "page" | readonly string[];
}

/** Redirect URIs that look like the registered http://localhost:7777/cb. */
const NEARLY = [
  "http://evil.example/cb",
  "http://localhost:7777/cb/",
  "http://localhost:7777/cb?a=1",
  "http://localhost:7778/cb",
  "http://localhost:7777/cb/../x",
  "http://localhost:7777@evil.example/cb",
  "http://127.0.0.1:7777/cb",
  "HTTP://localhost:7777/cb",
  "http://localhost:7777/cb#x",
  "http://localhost:7777/%63b",
];

export const authorizationCases: readonly AuthorizationCase[] = [
  {
    id: "A02",
    name: "client_id missing: a page, no redirect",
    change: { client_id: undefined },
    expect: "page",
  },
  {
    id: "A03",
    name: "client_id unknown: a page, no redirect",
    change: { client_id: "nobody" },
    expect: "page",
  },
  {
    id: "A04",
    name: "redirect_uri missing: a page, no redirect",
    change: { redirect_uri: undefined },
    expect: "page",
  },
  ...NEARLY.map((uri, index) => ({
    id: `A05.${index}`,
    name: `redirect_uri ${uri} isn't the registered one: a page, no redirect`,
    change: { redirect_uri: uri },
    expect: "page" as const,
  })),
  {
    id: "A06",
    name: "response_type missing",
    change: { response_type: undefined },
    expect: ["invalid_request"],
  },
  {
    id: "A07",
    name: "response_type=token",
    change: { response_type: "token" },
    expect: ["unsupported_response_type"],
  },
  { id: "A08", name: "scope missing", change: { scope: undefined }, expect: ["invalid_request"] },
  {
    id: "A09",
    name: "unknown scope",
    change: { scope: "https://api.example.com/unknown" },
    expect: ["invalid_scope"],
  },
  {
    id: "A09b",
    name: "offline_access isn't a scope here",
    change: { scope: "offline_access" },
    expect: ["invalid_scope"],
  },
  { id: "A09c", name: "openid isn't a scope here", change: { scope: "openid" }, expect: ["invalid_scope"] },
  { id: "A12", name: "two client_id: a page, no redirect", change: {}, twice: "client_id", expect: "page" },
  {
    id: "A12b",
    name: "two state: an error, nothing approved",
    change: {},
    twice: "state",
    expect: ["invalid_request"],
  },
  {
    id: "A21",
    name: "prompt=none without a session",
    change: { prompt: "none" },
    expect: ["login_required"],
  },
  {
    id: "A22",
    name: "a request object is refused",
    change: { request: "e30.e30." },
    expect: ["request_not_supported"],
  },
  {
    id: "T27",
    name: "public client without PKCE",
    change: {},
    publicClient: true,
    expect: ["invalid_request"],
  },
  {
    id: "T28",
    name: "code_challenge_method=plain",
    change: { code_challenge: "a".repeat(43), code_challenge_method: "plain" },
    expect: ["invalid_request"],
  },
  {
    id: "T28b",
    name: "code_challenge without a method, which would mean plain",
    change: { code_challenge: "a".repeat(43) },
    expect: ["invalid_request"],
  },
];
