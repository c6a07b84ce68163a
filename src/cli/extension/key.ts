import { fieldsIn } from '../../client/answer-data.ts'
import type { Answer } from '../../client/client.ts'
import { key } from '../../contract/key.ts'
import type { Data, Operation } from '../../contract/operation.ts'
import { shellQuote } from '../../core/shell-quote.ts'
import type { Context } from '../context/context.ts'
import type { Extension, Extensions } from '../operation/operation-command.ts'
import { holderList, type Holder } from '../profile/key-holders.ts'
import { addedConsequence, addedOutcome, chooseAdded } from './added.ts'
import { readKey, savedHolders, type NamedKey } from './named-key.ts'

const mostShown = 10

type Added = NonNullable<NamedKey['added']>
type Ending = Pick<NamedKey, 'created_keys' | 'created_keys_total'> & { secrets: unknown[] }

/** What ends with a key: a line for each kind. */
const endingLines = ({ created_keys = [], created_keys_total, secrets }: Ending): string[] => {
  const total = created_keys_total ?? created_keys.length
  const shown = created_keys
    .slice(0, mostShown)
    .map(({ id, name, scopes }) => `${id} ${name} (${scopes.join(', ')})`)
  const rest = total > shown.length ? [`and ${total - shown.length} more`] : []
  const ends = total === 1 ? '1 key is revoked with it' : `${total} keys are revoked with it`
  return [
    ...(total > 0 ? [`${ends}: ${[...shown, ...rest].join('; ')}`] : []),
    ...(secrets.length > 0 ? [`Its older secrets end too: ${secrets.join(', ')}`] : []),
  ]
}

const staysLine = (newest: string): string =>
  `Only this secret ends. Secret ${newest}, which replaced it, still works; svc key revoke ${shellQuote(newest)} ends the key`

/** What ends with a key in any case, and who stays an administrator. */
const originLines = ({
  administrators = [],
  pending_requests = 0,
  enrollment_links = 0,
}: Partial<Added>): string[] => [
  ...(pending_requests > 0 ? [`Pending requests that end with it: ${pending_requests}`] : []),
  ...(enrollment_links > 0 ? [`Enrollment links that end with it: ${enrollment_links}`] : []),
  ...administrators
    .slice(0, mostShown)
    .map(({ user_id, owner }) => `Stays an administrator, appointed with it: user ${user_id} (${owner})`),
  ...(administrators.length > mostShown
    ? [`and ${administrators.length - mostShown} more administrators`]
    : []),
]

/** For the question before a revocation. */
const consequenceOf = (
  { replaced, newest_id, secrets = [], added, ...created }: NamedKey,
  holders: Holder[],
  input: Record<string, unknown>,
): string[] => {
  const only = replaced === true && newest_id != null
  const lines = only
    ? [staysLine(newest_id)]
    : endingLines({ ...created, secrets: secrets.map(({ id }) => id) })
  if (lines.length === 0) lines.push('No other key is revoked with it')
  if (added && !only) lines.push(...originLines(added), ...addedConsequence(added, input))
  return holders.length > 0 ? [...lines, `This machine uses it in ${holderList(holders)}`] : lines
}

/** After a revocation. */
const outcomeOf = (ended: Partial<Data<typeof key.revokeKey>>, holders: Holder[]): string[] => {
  const { newest_id, secrets = [], ended_requests = 0 } = ended
  const requests = ended_requests === 1 ? '1 pending request' : `${ended_requests} pending requests`
  const saved = holders[0]
  return [
    ...(newest_id != null ? [staysLine(newest_id)] : endingLines({ ...ended, secrets })),
    ...(ended_requests > 0 ? [`${requests} ended with it`] : []),
    ...(saved
      ? [
          `This machine used it in ${holderList(holders)}; svc profile login ${shellQuote(saved.profile)}${saved.slot === 'ask_key' ? ' --ask' : ''} saves another key`,
        ]
      : []),
  ]
}

const revoke = async (context: Context, args: readonly string[], options: Record<string, unknown>) => {
  const { runOperation } = await import('../operation/run-operation.ts')
  let holders: Holder[] = []
  let named: NamedKey | undefined
  await runOperation(key.revokeKey, { args, options }, context, {
    before: async (input) => {
      named = await readKey(input['id'], context)
      if (named?.prefix !== undefined) holders = await savedHolders([named.prefix], context)
      const isWhole = named?.replaced !== true || named.newest_id == null
      if (isWhole) await chooseAdded(named?.added, input, options, context)
    },
    consequence: async (input) => named && consequenceOf(named, holders, input),
    afterShown: async (answer: Pick<Answer<Data<typeof key.revokeKey>>, 'envelope'>) => {
      const output = await context.output()
      const ended = fieldsIn(answer)
      for (const line of outcomeOf(ended, holders)) output.warn(line)
      const end = `svc key revoke ${shellQuote(String(ended.id))} --with-added`
      if (ended.newest_id == null) for (const line of addedOutcome(ended, end)) output.warn(line)
    },
  })
}

/** `svc key revoke` says what else ends; `svc key rotate` saves the new secret where the old one is saved. */
export const keyExtensions: Extensions = new Map<Operation, Extension>([
  [
    key.revokeKey,
    (command, context) => void command.action(() => revoke(context, command.args, command.opts())),
  ],
  [
    key.rotateKey,
    (command, context) =>
      void command.action(async () => {
        const { rotate } = await import('./key-rotation.ts')
        await rotate(context, command.args, command.opts())
      }),
  ],
])
