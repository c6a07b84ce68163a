const everyMs = 15_000

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)

/** An event stream whose first byte goes out at once, so that no proxy takes the wait for a dead connection. */
export const openedStream = (response: Response): Response => {
  if (!response.body || response.headers.get('content-type') !== 'text/event-stream') return response
  const opened = new TransformStream<Uint8Array, Uint8Array>({
    start: (controller) => controller.enqueue(bytes(': open\n\n')),
  })
  return new Response(response.body.pipeThrough(opened), response)
}

/**
 * A JSON answer that takes its time, for a client that takes no event stream: white space, which JSON allows, goes out
 * until it is there. What is answered at once stays as it is, with its own status.
 */
export const paddedJson = async (answer: Promise<Response>): Promise<Response> => {
  const later = new Promise<undefined>((resolve) => setImmediate(resolve, undefined))
  const atOnce = await Promise.race([answer, later])
  if (atOnce) return atOnce
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
