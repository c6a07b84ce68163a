/** One complete HTTP request. Header names are lower-case. */
export type HttpRequest = {
  method: string
  url: string
  headers: Record<string, string>
  body?: string | undefined
  /** How long the request asks the server to delay its answer, milliseconds. */
  waitMs?: number
  /** Called when the answer starts, even if the rest of it fails. */
  onStatus?(status: number): void
}

export type HttpResponse = {
  status: number
  headers: Record<string, string>
  body: string
}

/** Sends one request once: no redirect is followed, nothing is repeated. Throws an SvcError (`unreachable`). */
export type Transport = (request: HttpRequest, signal?: AbortSignal) => Promise<HttpResponse>
