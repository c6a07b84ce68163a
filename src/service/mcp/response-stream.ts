const everyMs = 15_000

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)

/** Sends the first byte of an event stream immediately, so that no proxy closes the connection as dead. */
export const openStream = (response: Response): Response => {
  if (!response.body || response.headers.get('content-type') !== 'text/event-stream') return response
  const opened = new TransformStream<Uint8Array, Uint8Array>({
    start: (controller) => controller.enqueue(bytes(': open\n\n')),
  })
  return new Response(response.body.pipeThrough(opened), response)
}

/**
 * Keeps the connection open for a slow JSON answer, for a client that accepts no event stream: sends white space, which
 * JSON allows, until the answer is there. An immediate answer stays as it is, with its own status.
 */
export const padJson = async (answer: Promise<Response>): Promise<Response> => {
  const soon = new Promise<undefined>((resolve) => setImmediate(resolve, undefined))
  const immediate = await Promise.race([answer, soon])
  if (immediate) return immediate
  let padding: NodeJS.Timeout | undefined
  const body = new ReadableStream<Uint8Array>({
    start: async (controller) => {
      const pad = (): void => controller.enqueue(bytes('\n'))
      pad()
      padding = setInterval(pad, everyMs)
      const text = await answer.then((response) => response.text())
      clearInterval(padding)
      try {
        controller.enqueue(bytes(text))
        controller.close()
      } catch {
        // The client is gone.
      }
    },
    cancel: () => clearInterval(padding),
  })
  return new Response(body, { headers: { 'content-type': 'application/json' } })
}
