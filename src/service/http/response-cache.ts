/** The response of a read, as it is sent. */
type CachedResponse = { text: string; headers: Record<string, string> | undefined }

// Anybody with a key can request many URLs.
const maxText = 64 * 1024
const maxTotal = 4 * 1024 * 1024

/**
 * Keeps responses of reads in memory until the next commit (`revision`), whatever it changes. `name` must contain everything
 * that a response depends on in addition to the store.
 */
export const createResponseCache = (revision: () => number) => {
  const responses = new Map<string, CachedResponse>()
  let characters = 0
  let cachedAt = -1

  const forget = (): void => {
    responses.clear()
    characters = 0
  }

  const current = (): number => {
    const now = revision()
    if (now !== cachedAt) forget()
    cachedAt = now
    return now
  }

  return {
    find: (name: string): CachedResponse | undefined => {
      current()
      return responses.get(name)
    },
    /** `since` is the revision before the store was read. */
    keep: (name: string, since: number, response: CachedResponse): void => {
      const more = name.length + response.text.length
      if (since !== current() || more > maxText) return
      if (characters + more > maxTotal) forget()
      characters += more
      responses.set(name, response)
    },
  }
}
export type ResponseCache = ReturnType<typeof createResponseCache>

/**
 * Encodes what a handler returned. It returns one object to all who waited for it, so thousands of answers are encoded once.
 */
export const createSharedBody = (textOf: (data: unknown) => string) => {
  const bodies = new WeakMap<object, Uint8Array>()
  return (data: object): Uint8Array => {
    const body = bodies.get(data) ?? Buffer.from(textOf(data))
    bodies.set(data, body)
    return body
  }
}
