import { hostOf } from '../../client/network-error.ts'
import { SvcError } from '../../core/errors.ts'
import type { Context } from '../context/context.ts'
import { openTransport } from '../context/open-client.ts'

/** What `/health` says: `ok` is a yes or a no in a service of the specification. Another program may have a page of that name. */
export const healthOf = (answer: unknown): 'well' | 'ill' | 'unsaid' => {
  const { ok } = (answer ?? {}) as { ok?: unknown }
  if (ok === true) return 'well'
  return ok === false ? 'ill' : 'unsaid'
}

/** JSON of an address that wants no credentials; none is sent, and no redirect is followed. `cacert` trusts a CA file. */
export const getJson = async (
  { io }: Pick<Context, 'io'>,
  url: string,
  cacert: string | undefined,
): Promise<unknown> => {
  const transport = openTransport(io, cacert)
  try {
    const headers = { accept: 'application/json', 'user-agent': 'svc' }
    const { status, body } = await transport({ method: 'GET', url, headers }, io.signal)
    if (status !== 200)
      throw new SvcError('unreachable', `http_${status}`, `${hostOf(url)} answered ${status}`, {
        hint: `Check the address. The request was for ${new URL(url).pathname}`,
      })
    return JSON.parse(body) as unknown
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    throw new SvcError(
      'unreachable',
      'not_json',
      `${hostOf(url)} answered with something that is not valid JSON`,
    )
  } finally {
    await transport.close()
  }
}
