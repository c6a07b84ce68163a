import type { Client } from '../../client/client.ts'
import type { Operation } from '../../contract/operation.ts'
import { SvcError } from '../../core/errors.ts'

type Options = {
  /** With the API key. */
  own: Client
  /** With the key that asks; the same client where one key does both. */
  asking: Client
  /** Whether requests of other keys stay unknown, as they do to an agent. */
  askingOnly: boolean
  /** What to do about a key that cannot ask. */
  hint: string
}

/** `one` names a request: it is made, read and ended with the key that asks. */
const kindOf = ({ path, open, effect }: Operation): 'other' | 'list' | 'new' | 'one' => {
  if (open || !path.startsWith('/svc/v1/approvals')) return 'other'
  if (path.includes('{')) return 'one'
  return effect === 'read' ? 'list' : 'new'
}

const isRefused = (error: unknown, code: string): error is SvcError =>
  error instanceof SvcError && error.code === code

/**
 * One client over two keys. The key that asks makes requests for approval, and reads and ends them. A request that it does
 * not know was made with another key, so the API key is tried. Lists and all other operations are the API key's.
 */
export const withTwoKeys = ({ own, asking, askingOnly, hint }: Options): Client => {
  const ask: Client['call'] = async (...call) => {
    try {
      return await asking.call(...call)
    } catch (error) {
      if (!isRefused(error, 'scope_missing')) throw error
      throw new SvcError(error.exit, error.code, error.message, { ...error, hint })
    }
  }

  const call: Client['call'] = async (...given) => {
    const kind = kindOf(given[0])
    if (own === asking) return kind === 'new' ? ask(...given) : own.call(...given)
    if (kind === 'other') return own.call(...given)
    if (kind === 'new') return ask(...given)
    const [first, second, passes] =
      kind === 'one' ? [asking, own, 'not_found'] : [own, asking, 'scope_missing']
    try {
      return await first.call(...given)
    } catch (error) {
      if (askingOnly || !isRefused(error, passes)) throw error
      return second.call(...given)
    }
  }

  const pages: Client['pages'] = async function* (...given) {
    try {
      yield* own.pages(...given)
    } catch (error) {
      if (kindOf(given[0]) !== 'list' || !isRefused(error, 'scope_missing')) throw error
      yield* asking.pages(...given)
    }
  }

  return { ...own, call, pages }
}
