/** A real HTTP server on loopback whose answers a test decides. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface LocalServer {
  readonly url: string;
  /** Method-less log: path, range and authorization of every request, in order. */
  readonly requests: {
    path: string;
    range?: string;
    ifRange?: string;
    authorization?: string;
    accept?: string;
  }[];
  close(): Promise<void>;
}

export type Handler = (request: IncomingMessage, response: ServerResponse, count: number) => void;

export async function serve(handler: Handler): Promise<LocalServer> {
  const requests: LocalServer["requests"] = [];
  const server: Server = createServer((request, response) => {
    const { range, authorization, accept } = request.headers;
    const ifRange = request.headers["if-range"];
    requests.push({
      path: request.url ?? "",
      ...(range !== undefined && { range }),
      ...(typeof ifRange === "string" && { ifRange }),
      ...(authorization !== undefined && { authorization }),
      ...(accept !== undefined && { accept }),
    });
    handler(request, response, requests.length);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

export interface FileAnswer {
  readonly etag?: string;
  readonly ranges?: boolean;
  /** Cut the connection after this many bytes of the body. */
  readonly cutAfter?: number;
}

/** Answer with a file, the way a static server does: ranges, If-Range, 416. */
export function sendFile(
  request: IncomingMessage,
  response: ServerResponse,
  file: Buffer,
  how: FileAnswer = {},
): void {
  const { etag, ranges = true, cutAfter } = how;
  const asked = /^bytes=(\d+)-$/.exec(request.headers.range ?? "")?.[1];
  const ifRange = request.headers["if-range"];
  const partial = ranges && asked !== undefined && (ifRange === undefined || ifRange === etag);
  const start = partial ? Number(asked) : 0;
  if (partial && start >= file.length) {
    response.writeHead(416, { "content-range": `bytes */${file.length}` }).end();
    return;
  }
  const body = file.subarray(start);
  response.writeHead(partial ? 206 : 200, {
    "content-length": body.length,
    ...(etag === undefined ? {} : { etag }),
    ...(partial ? { "content-range": `bytes ${start}-${file.length - 1}/${file.length}` } : {}),
  });
  if (cutAfter === undefined) response.end(body);
  else response.write(body.subarray(0, cutAfter), () => setTimeout(() => response.destroy(), 60));
}
