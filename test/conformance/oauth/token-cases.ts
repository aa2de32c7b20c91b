/** Requests at the token endpoint with one thing wrong or unusual, as data. The ids are those of the case list. */

/** A verifier and its S256 challenge (RFC 7636 appendix B). */
export const VERIFIER = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
export const CHALLENGE = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";

/** How the parameters travel. `basic`: the client's name and secret as HTTP Basic, the rest as a form. */
export type Placement = "form" | "query" | "multipart" | "basic";

export interface TokenCase {
  readonly id: string;
  readonly name: string;
  readonly placement?: Placement;
  /** Changes of a good exchange; undefined leaves a parameter out. */
  readonly change?: Readonly<Record<string, string | undefined>>;
  /** Parameters of the authorization request. */
  readonly authorization?: Readonly<Record<string, string>>;
  /** Further headers. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly status: number;
  readonly error?: string;
  /** The code must still be good for a right exchange afterwards. */
  readonly codeSurvives?: boolean;
}

const PKCE = { code_challenge: CHALLENGE, code_challenge_method: "S256" };

export const tokenCases: readonly TokenCase[] = [
  { id: "T01", name: "exchange as form", status: 200 },
  { id: "T02", name: "exchange as query string with an empty body", placement: "query", status: 200 },
  { id: "T03", name: "exchange as multipart", placement: "multipart", status: 200 },
  { id: "T04", name: "exchange with HTTP Basic", placement: "basic", status: 200 },
  {
    id: "T05",
    name: "HTTP Basic and a secret in the body together",
    placement: "basic",
    change: { client_secret: "again" },
    status: 400,
    error: "invalid_request",
  },
  {
    id: "T06",
    name: "wrong secret",
    change: { client_secret: "wrong" },
    status: 401,
    error: "invalid_client",
    codeSurvives: true,
  },
  {
    id: "T08",
    name: "no secret",
    change: { client_secret: undefined },
    status: 401,
    error: "invalid_client",
    codeSurvives: true,
  },
  {
    id: "T09",
    name: "unknown client",
    change: { client_id: "nobody" },
    status: 401,
    error: "invalid_client",
  },
  {
    id: "T11",
    name: "another redirect_uri",
    change: { redirect_uri: "http://localhost:7777/other" },
    status: 400,
    error: "invalid_grant",
    codeSurvives: true,
  },
  {
    id: "T12",
    name: "redirect_uri missing",
    change: { redirect_uri: undefined },
    status: 400,
    error: "invalid_request",
  },
  { id: "T13", name: "code missing", change: { code: undefined }, status: 400, error: "invalid_request" },
  { id: "T14", name: "unknown code", change: { code: "x".repeat(43) }, status: 400, error: "invalid_grant" },
  {
    id: "T15",
    name: "grant_type missing",
    change: { grant_type: undefined },
    status: 400,
    error: "invalid_request",
  },
  {
    id: "T16",
    name: "grant_type=password",
    change: { grant_type: "password" },
    status: 400,
    error: "unsupported_grant_type",
  },
  {
    id: "T23",
    name: "PKCE with the right verifier",
    authorization: PKCE,
    change: { code_verifier: VERIFIER },
    status: 200,
  },
  {
    id: "T24",
    name: "PKCE with another verifier",
    authorization: PKCE,
    change: { code_verifier: "b".repeat(43) },
    status: 400,
    error: "invalid_grant",
  },
  { id: "T25", name: "PKCE without the verifier", authorization: PKCE, status: 400, error: "invalid_grant" },
  {
    id: "T26",
    name: "a verifier where no challenge was sent (downgrade)",
    change: { code_verifier: VERIFIER },
    status: 400,
    error: "invalid_grant",
  },
  { id: "T32", name: "an unknown parameter is ignored", change: { colour: "blue" }, status: 200 },
];

/** Bodies that aren't forms, sent as they are. `field`: a form whose part is a file. */
export interface BodyCase {
  readonly id: string;
  readonly name: string;
  readonly contentType: string;
  readonly body: string;
  readonly statuses: readonly number[];
}

export const bodyCases: readonly BodyCase[] = [
  {
    id: "T21",
    name: "a JSON body",
    contentType: "application/json",
    body: '{"grant_type":"authorization_code"}',
    statuses: [400, 415],
  },
  {
    id: "T29",
    name: "an oversized body",
    contentType: "application/x-www-form-urlencoded",
    body: `code=${"a".repeat(200_000)}`,
    statuses: [400, 413],
  },
  {
    id: "T30",
    name: "a malformed multipart body",
    contentType: "multipart/form-data; boundary=x",
    body: "--x\r\nnonsense",
    statuses: [400],
  },
  {
    id: "T30b",
    name: "a multipart body without a boundary",
    contentType: "multipart/form-data",
    body: "--x\r\n\r\n",
    statuses: [400],
  },
  {
    id: "T31",
    name: "a multipart body with a file",
    contentType: "multipart/form-data; boundary=x",
    body: '--x\r\nContent-Disposition: form-data; name="code"; filename="a.txt"\r\nContent-Type: text/plain\r\n\r\nabc\r\n--x--\r\n',
    statuses: [400],
  },
  {
    id: "T15b",
    name: "a repeated parameter in the form",
    contentType: "application/x-www-form-urlencoded",
    body: "grant_type=authorization_code&grant_type=refresh_token",
    statuses: [400],
  },
];
