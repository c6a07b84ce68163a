export type CallOptions = {
  /** Ends the call with the code `interrupted`. A write that was already sent may still happen. */
  signal?: AbortSignal
  /** For a write: a later call with the same key and input repeats the answer, not the write. Default: a random key. */
  idempotencyKey?: string
}

export type ClientOptions = {
  /** The API root of the service: `https://svc.example.com/admin/public/api`. */
  baseUrl: string
  /** The API key, or a function that reads it. The function is called before each request. */
  apiKey?: string | (() => string | Promise<string>)
  /** A file that contains only the API key. It is read before each request, so a rotated key takes effect at once. */
  apiKeyFile?: string
  /** A certificate authority (PEM) to trust instead of the usual ones. */
  ca?: string
  /** Milliseconds to wait for an answer; default: 60,000. A call with `wait_s` waits longer. */
  timeoutMs?: number
}
