import { fieldsIn } from '../../client/answer-data.ts'
import type { Answer } from '../../client/client.ts'
import { key } from '../../contract/key.ts'
import type { Data } from '../../contract/operation.ts'
import { SvcError } from '../../core/errors.ts'
import { keyPrefix } from '../../core/key-prefix.ts'
import { shellQuote } from '../../core/shell-quote.ts'
import type { Context } from '../context/context.ts'
import { createStore } from '../context/profile-store.ts'
import { runOperation } from '../operation/run-operation.ts'
import { holderList, replaceSaved, type Holder } from '../profile/key-holders.ts'
import { readKey, savedHolders } from './named-key.ts'

/** Seconds in which the new secret is saved, before the old one is ended. */
const timeToSave = 3600

type Rotated = Data<typeof key.rotateKey>
type Answered = Pick<Answer<Rotated>, 'envelope'>
type Secret = Rotated['older_secrets'][number]

const untilLine = ({ id, expires_at }: Secret): string =>
  `Secret ${id} works until ${expires_at?.replace(/\.\d+Z$/, 'Z')}. To end it now: svc key revoke ${shellQuote(id)}`

/** Ends secrets, that of the caller last. Returns why it could not. */
const endSecrets = async (
  secrets: readonly Secret[],
  own: string | undefined,
  context: Context,
): Promise<SvcError | undefined> => {
  const client = await context.client()
  for (const { id } of secrets.toSorted((a, b) => Number(a.prefix === own) - Number(b.prefix === own)))
    try {
      await client.call(key.revokeKey, { id }, { signal: context.io.signal })
    } catch (error) {
      if (!(error instanceof SvcError)) throw error
      return error.with({
        message: `The new secret is saved, but the old one was not ended: ${error.message}`,
        hint: `svc key revoke ${shellQuote(id)} ends it`,
      })
    }
  return undefined
}

/**
 * Replaces the secret of a key. Where a profile of this machine holds the key, it gets the new secret before the old one ends, so
 * that a crash in between locks nobody out.
 */
export const rotate = async (
  context: Context,
  args: readonly string[],
  options: Record<string, unknown>,
): Promise<void> => {
  const settings = await context.settings()
  const { value: url } = settings.baseUrl
  let old: Secret[] = []
  let endsNow = false
  let held: Holder[] = []
  let problem: SvcError | undefined
  const prefixes = (): string[] => old.map(({ prefix }) => prefix)
  const ownPrefix = async (): Promise<string | undefined> => {
    const own = await settings.apiKey(url)
    return own === undefined ? undefined : keyPrefix(own)
  }
  const save = async (secret: string): Promise<void> => {
    try {
      const where = { origin: new URL(url).origin, prefixes: prefixes() }
      held = await replaceSaved(createStore(context.io), where, secret)
    } catch (error) {
      if (!(error instanceof SvcError)) throw error
      problem = error.with({
        message: `The new secret is not saved in ${holderList(held)}: ${error.message}`,
        hint: `svc profile login ${shellQuote(held[0]!.profile)}${held[0]!.slot === 'ask_key' ? ' --ask' : ''} saves it`,
      })
    }
  }

  await runOperation(key.rotateKey, { args, options }, context, {
    before: async (input) => {
      const { id, prefix, expires_at = null, secrets = [] } = (await readKey(input['id'], context)) ?? {}
      if (id === undefined || prefix === undefined) return
      old = [...secrets, { id, prefix, expires_at }]
      endsNow = input['overlap_s'] === 0
      held = await savedHolders(prefixes(), context)
      if (endsNow && held.length > 0) input['overlap_s'] = timeToSave
    },
    received: async (answer: Answered) => {
      const made = fieldsIn(answer)
      if (held.length === 0 || typeof made.key !== 'string') return
      await save(made.key)
      if (problem || !endsNow) return
      problem = await endSecrets(made.older_secrets ?? [], await ownPrefix(), context)
      if (!problem) made.older_secrets = []
    },
    afterShown: async (answer: Answered) => {
      if (problem) throw problem
      const output = await context.output()
      if (held.length > 0) output.warn(`Saved in ${holderList(held)}`)
      const { where, origin } = settings.keySources.apiKey ?? {}
      const own = await ownPrefix()
      if (origin === undefined && own !== undefined && prefixes().includes(own))
        output.warn(`The key ${where} is an old secret; replace it with the new one`)
      for (const secret of fieldsIn(answer).older_secrets ?? []) output.warn(untilLine(secret))
      if (!endsNow) return
      output.warn(`Ended: ${old.length === 1 ? 'secret' : 'secrets'} ${old.map(({ id }) => id).join(', ')}`)
    },
  })
}
