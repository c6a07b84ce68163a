import { SvcError } from '../core/errors.ts'
import { parseJson } from '../core/parse-json.ts'
import { hostOf } from '../core/network-error.ts'
import type { Transport } from '../core/transport.ts'

/** JSON from a public address, such as a key set: sends no credentials and follows no redirect. */
export const getPublicJson = async (
  transport: Transport,
  url: string,
  signal?: AbortSignal,
): Promise<unknown> => {
  const headers = { accept: 'application/json', 'user-agent': 'svc' }
  const { status, body } = await transport({ method: 'GET', url, headers }, signal)
  if (status !== 200)
    throw new SvcError('unreachable', `http_${status}`, `${hostOf(url)} answered ${status}`, {
      hint: `Check the address. The request was for ${new URL(url).pathname}`,
    })
  const value = parseJson(body)
  if (value !== undefined) return value
  throw new SvcError(
    'unreachable',
    'not_json',
    `${hostOf(url)} answered with something that is not valid JSON`,
  )
}
