import { safeLine } from '../../core/safe-text.ts'
import type { Context } from '../context/context.ts'

const mostShown = 10

type Thing = { id: string; name: string; user_id: string; owner: string }
type Shown = { devices: Thing[]; agents: Thing[]; more?: boolean }

const named = (kind: 'device' | 'agent', things: Thing[]): string[] =>
  things.map(
    ({ id, name, user_id, owner }) => `${kind} ${id} ${JSON.stringify(name)} of user ${user_id} (${owner})`,
  )

/** A line for each device and agent, the first ones only. */
const addedLines = ({ devices, agents, more = false }: Shown): string[] => {
  const all = [...named('device', devices), ...named('agent', agents)]
  const rest = all.length - mostShown
  return [
    ...all.slice(0, mostShown).map(safeLine),
    ...(rest > 0 || more ? [`and ${more ? 'more than ' : ''}${Math.max(rest, 0)} more`] : []),
  ]
}

const count = ({ devices, agents }: Shown): number => devices.length + agents.length

type Asked = { with_added?: boolean; yes?: boolean; confirm?: string }

/**
 * Lists what a device or a key added and asks whether it ends too, unless a flag decided that. Without a terminal to ask on,
 * or with --yes, only --with-added ends it.
 */
export const chooseAdded = async (
  added: Shown | undefined,
  input: Record<string, unknown>,
  { yes, confirm }: Asked,
  context: Context,
): Promise<void> => {
  if (!added || count(added) === 0 || input['with_added'] !== undefined || yes || confirm !== undefined)
    return
  const prompt = await context.prompt()
  if (!prompt) return
  const lines = addedLines(added).map((line) => `  ${line}\n`)
  context.io.stderr.write(`It added these, which still work:\n${lines.join('')}`)
  input['with_added'] = await prompt.confirm('End these too? Answer yes if it was lost, stolen or leaked')
}

/** For the question before the revocation. */
export const addedConsequence = (added: Shown | undefined, input: Record<string, unknown>): string[] => {
  if (!added || count(added) === 0) return []
  const title = input['with_added'] === true ? 'Ends with it' : 'Stays'
  return addedLines(added).map((line) => `${title}: ${line}`)
}

/** After the revocation: what ended, and what still works with the command that ends it. */
export const addedOutcome = (
  { ended, remaining }: { ended?: Shown | undefined; remaining?: Shown | undefined },
  endCommand: string,
): string[] => [
  ...(ended ? addedLines(ended).map((line) => `Ended with it: ${line}`) : []),
  ...(remaining && count(remaining) > 0
    ? [
        ...addedLines(remaining).map((line) => `Still works: ${line}`),
        `hint: Review these. To end them too: ${endCommand}`,
      ]
    : []),
]
