/** One HTTP request, whole. Header names are lower-case. */
export type HttpRequest = {
  method: string
  url: string
  headers: Record<string, string>
  body?: string | undefined
  /** How long the other side was asked to wait before it answers, milliseconds. */
  waitMs?: number
  /** Told as soon as the answer begins, whatever becomes of the rest of it. */
  onStatus?(status: number): void
}

export type HttpResponse = {
  status: number
  headers: Record<string, string>
  body: string
}

/** Sends one request once: no redirect is followed, nothing is repeated. Fails with an SvcError (`unreachable`). */
export type Transport = (request: HttpRequest, signal?: AbortSignal) => Promise<HttpResponse>
