/** What can go wrong between here and a server, as one line that names no address that should stay private. */

/** A failed request. `retry` says whether trying again may help; `status` is the HTTP status where there was one. */
export class FetchError extends Error {
  override readonly name = "FetchError";
  readonly retry: boolean;
  readonly status: number | undefined;
  /** Seconds the server asked to wait. */
  readonly retryAfter: number | undefined;

  constructor(message: string, about: { retry: boolean; status?: number; retryAfter?: number }) {
    super(message);
    this.retry = about.retry;
    this.status = about.status;
    this.retryAfter = about.retryAfter;
  }
}

/** Host and path of a web address: no user, password, query or fragment, which may hold credentials. */
export function publicAddress(url: string | URL): string {
  const { host, pathname } = new URL(url);
  return `${host}${pathname}`;
}

/** The error of a response that is not the one wanted. Server faults, time-outs and rate limits may be retried. */
export function statusError(response: Response, label: string): FetchError {
  const { status } = response;
  const advice =
    status === 404 || status === 410
      ? "the file is not there; check the name and the revision"
      : status === 401 || status === 403
        ? "access is refused; a gated or private repository needs its licence accepted and HF_TOKEN set"
        : status === 429
          ? "too many requests; wait a while and try again"
          : status >= 500
            ? "the server has a fault; try again later"
            : "this was not expected";
  const seconds = Number(response.headers.get("retry-after"));
  return new FetchError(`download: ${label} answered ${status}; ${advice}`, {
    status,
    retry: status >= 500 || status === 429 || status === 408 || status === 425,
    ...(Number.isFinite(seconds) && seconds > 0 ? { retryAfter: seconds } : {}),
  });
}

/** The error of a request that got no answer. Only the system's code is kept: its message may name a private host. */
export function connectionError(
  error: unknown,
  label: string,
  env: NodeJS.ProcessEnv = process.env,
): FetchError {
  const code = codeOf(error) ?? "no answer";
  const proxy = ["HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy"].find((name) => env[name]);
  const advice =
    proxy !== undefined && env.NODE_USE_ENV_PROXY !== "1"
      ? `${proxy} is set: Node 24 and later use it with NODE_USE_ENV_PROXY=1`
      : /CERT|SELF_SIGNED|UNABLE_TO/.test(code)
        ? "the certificate is not trusted; set NODE_EXTRA_CA_CERTS to your authority's file"
        : "check the network connection";
  return new FetchError(`download: ${label} could not be reached (${code}); ${advice}`, { retry: true });
}

function codeOf(error: unknown): string | undefined {
  for (let e = error; e instanceof Error; e = e.cause) {
    const { code } = e as NodeJS.ErrnoException;
    if (typeof code === "string" && /^[A-Z][A-Z0-9_]+$/.test(code)) return code;
    if (e instanceof AggregateError && e.errors.length > 0) return codeOf(e.errors[0]);
  }
  return undefined;
}
