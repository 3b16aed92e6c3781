/** One HTTP request with redirects followed by hand, so that a credential never travels to another host. */
import { URL } from "node:url";
import { connectionError, FetchError, publicAddress, statusError } from "./fetch-error.js";
import { readBody } from "./response-body.js";

/** A header value that is sent to one origin only. */
export interface Authorisation {
  /** As `new URL(...).origin`. */
  readonly origin: string;
  /** Value of the `authorization` header. */
  readonly value: string;
}

export interface RequestOptions {
  readonly headers?: Readonly<Record<string, string>>;
  readonly authorisation?: Authorisation;
  /** What errors call the address. Default host and path. */
  readonly label?: string;
  /** Give up when the answer does not begin within this time, ms. Default 30,000. */
  readonly answerMs?: number;
  readonly signal?: AbortSignal;
}

export interface Answer {
  readonly response: Response;
  /** The address that answered, after redirects. */
  readonly url: string;
}

const MOST_REDIRECTS = 10;

/**
 * GET an address and follow redirects. The answer may have any status that is not a redirect. Throws a `FetchError`
 * where there is no answer, for more than ten redirects, and for one that leaves https; an abort throws the signal's
 * reason. Bodies come as sent: no compression is asked for, so that lengths and ranges count the file's own bytes.
 */
export async function request(address: string, options: RequestOptions = {}): Promise<Answer> {
  const label = options.label ?? publicAddress(address);
  let url = new URL(address);
  for (let hop = 0; hop <= MOST_REDIRECTS; hop++) {
    const response = await ask(url, label, options);
    const location = response.headers.get("location");
    if (response.status < 300 || response.status >= 400 || response.status === 304 || location === null) {
      return { response, url: url.href };
    }
    await response.body?.cancel();
    const next = URL.canParse(location, url.href) ? new URL(location, url.href) : undefined;
    const safe = next?.protocol === "https:" || (next?.protocol === "http:" && url.protocol === "http:");
    if (next === undefined || !safe) {
      throw new FetchError(`download: ${label} redirects to an address that is not https; not followed`, {
        retry: false,
      });
    }
    url = next;
  }
  throw new FetchError(`download: ${label} redirects more than ${MOST_REDIRECTS} times; not followed`, {
    retry: false,
  });
}

/** GET a small text (default at most 32 MB): listings and indexes. Throws for any status but 200. */
export async function requestText(
  address: string,
  options: RequestOptions & { readonly mostBytes?: number } = {},
): Promise<Answer & { readonly text: string }> {
  const answer = await request(address, options);
  const label = options.label ?? publicAddress(address);
  if (answer.response.status !== 200) {
    await answer.response.body?.cancel();
    throw statusError(answer.response, label);
  }
  const most = options.mostBytes ?? 32e6;
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of readBody(answer.response, { ...options, label })) {
    size += chunk.length;
    if (size > most) {
      const line = `download: ${label} sent more than ${most} bytes; expected a short listing`;
      throw new FetchError(line, { retry: false });
    }
    chunks.push(chunk);
  }
  return { ...answer, text: Buffer.concat(chunks).toString("utf8") };
}

async function ask(url: URL, label: string, options: RequestOptions): Promise<Response> {
  options.signal?.throwIfAborted();
  const { authorisation } = options;
  const bare = new URL(url);
  bare.username = "";
  bare.password = "";
  bare.hash = "";
  const patience = new AbortController();
  const timer = setTimeout(() => patience.abort(), options.answerMs ?? 30_000);
  try {
    return await fetch(bare, {
      redirect: "manual",
      headers: {
        "user-agent": "countlens",
        "accept-encoding": "identity",
        ...options.headers,
        ...(authorisation?.origin === url.origin ? { authorization: authorisation.value } : {}),
      },
      signal: options.signal === undefined ? patience.signal : either(patience.signal, options.signal),
    });
  } catch (error) {
    options.signal?.throwIfAborted();
    if (patience.signal.aborted) {
      throw new FetchError(`download: ${label} did not answer in time; try again later`, { retry: true });
    }
    throw connectionError(error, label);
  } finally {
    clearTimeout(timer);
  }
}

/** `AbortSignal.any`, which the declarations in use do not know yet. */
function either(a: AbortSignal, b: AbortSignal): AbortSignal {
  return (AbortSignal as unknown as { any(signals: AbortSignal[]): AbortSignal }).any([a, b]);
}
