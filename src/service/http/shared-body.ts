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
