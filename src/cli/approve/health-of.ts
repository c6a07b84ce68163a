/** What `/health` says: `ok` is a yes or a no in a service of the specification. Another program may have a page of that name. */
export const healthOf = (answer: unknown): 'well' | 'ill' | 'unsaid' => {
  const { ok } = (answer ?? {}) as { ok?: unknown }
  if (ok === true) return 'well'
  return ok === false ? 'ill' : 'unsaid'
}
