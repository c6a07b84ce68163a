import { fieldsIn } from '../../client/answer-data.ts'
import { argsOf } from '../../contract/describe.ts'
import { decidingValue, orgFields, type Operation } from '../../contract/operation.ts'
import { user } from '../../contract/user.ts'
import { SvcError, usageError } from '../../core/errors.ts'
import { safeLine } from '../../core/safe-text.ts'
import { shellQuote } from '../../core/shell-quote.ts'
import type { Context } from '../context/context.ts'
import { findOrg } from '../context/organization.ts'
import { fitted } from '../terminal/wrap.ts'

export type Answers = { yes?: boolean; confirm?: string }

/** A change that a person must confirm. */
export type Write = {
  /** What is about to happen: `Apply 3 changes`. Looked up only to be shown. */
  what: string | (() => Promise<string>)
  /** What must be typed in a protected profile: a slug or an id. Absent for a change that deletes nothing. */
  name?: string
  /** Whether the name must be typed on a terminal in every profile, unless --yes is given. */
  isGrave?: boolean
  /** The organization of the change, by id or slug. */
  org?: string | number | undefined
  /** What else it deletes, a line each. */
  consequence?: (() => Promise<string | string[] | undefined> | undefined) | undefined
  /** The error message after the answer No. */
  declined: string
}

/**
 * Where a command is about to act: `in organization acme (Acme Corp) at https://host, profile prod`. Looks the
 * organization up, and throws if it does not exist. Contains text from the service.
 */
export const whereLine = async (context: Context, org?: string | number): Promise<string> => {
  const { baseUrl, profile } = await context.settings()
  const { origin } = new URL(baseUrl.value)
  const from =
    baseUrl.source === 'flag' ? ' (--base-url)' : baseUrl.source === 'environment' ? ' (SVC_BASE_URL)' : ''
  const at = `at ${origin}${from}, profile ${profile.value}`
  if (org === undefined) return at
  const { id, slug, name } = await findOrg(String(org), context)
  return `in organization ${slug ?? id}${name === undefined ? '' : ` (${name})`} ${at}`
}

/**
 * Asks for confirmation before a change: default No; a protected profile, or an organization, requires the name. Without a terminal it
 * requires --yes, or --confirm NAME in a protected profile. Throws unless the change is confirmed.
 */
export const confirmWrite = async (write: Write, answers: Answers, context: Context): Promise<void> => {
  const { what, name, isGrave, org, declined } = write
  const settings = await context.settings()
  const isTyped = settings.protected || (isGrave && !answers.yes && (await context.prompt()) !== undefined)
  const typed = isTyped ? name : undefined
  const { command } = context
  const again = (...plus: string[]) => command!.again({ without: ['--yes', '--confirm'], plus })
  if (answers.confirm !== undefined && answers.confirm !== name)
    throw usageError(
      name === undefined
        ? '--confirm is only for deletions; use --yes here'
        : `--confirm is "${answers.confirm}", but the name is "${name}"`,
      await (name === undefined ? again('--yes') : again('--confirm', name)),
    )

  if (answers.confirm !== undefined) return

  // On separate lines, because a question that the terminal wraps is hard to read.
  const about = async (): Promise<string> => {
    const lines = [await whereLine(context, org), await write.consequence?.()].flat()
    const below = lines.flatMap((line) => (line === undefined ? [] : [`  ${safeLine(line)}`]))
    const head = safeLine(typeof what === 'string' ? what : await what())
    return `${fitted([head, ...below].join('\n'), context.io.stderr)}\n`
  }
  if (typed === undefined) return requireYes('Continue?', { yes: answers.yes, about, declined }, context)
  const prompt = await context.prompt()
  if (!prompt)
    throw usageError(
      `svc ${command!.words} requires --confirm ${shellQuote(typed)} when it cannot ask for confirmation: the profile is protected`,
      await again('--confirm', typed),
    )
  context.io.stderr.write(await about())
  if ((await prompt.text(`Type ${typed} to continue`)) !== typed)
    throw new SvcError('failed', 'declined', declined)
}

type Question = {
  yes: boolean | undefined
  /** Written above the question. */
  about?(): string | Promise<string>
  /** The error message without a terminal and without --yes. */
  unasked?: string
  /** The error message after the answer No. */
  declined: string
}

/** Asks a question that --yes answers. Throws if the answer is No, or without a terminal to ask on. */
export const requireYes = async (
  question: string,
  { yes, about, unasked, declined }: Question,
  context: Context,
): Promise<void> => {
  if (yes) return
  const prompt = await context.prompt()
  if (!prompt) {
    const { words, again } = context.command!
    const required = `svc ${words} requires --yes when it cannot ask for confirmation`
    throw usageError(unasked ?? required, await again({ plus: ['--yes'] }))
  }
  if (about) context.io.stderr.write(await about())
  if (!(await prompt.confirm(question))) throw new SvcError('failed', 'declined', declined)
}

/** The organization in an input, by id or slug. */
export const orgIn = (input: Record<string, unknown>): string | number | undefined => {
  const field = orgFields.find((name) => input[name] !== undefined)
  return field === undefined ? undefined : (input[field] as string | number)
}

/** `Grace Hopper (user 2)`, or the id alone if this key cannot read the user. Contains text from the service. */
const userText = async (id: string, org: string | number | undefined, context: Context): Promise<string> => {
  if (org === undefined) return id
  const client = await context.client()
  const { id: orgId } = await findOrg(String(org), context)
  const { signal } = context.io
  const found = await client.call(user.getUser, { orgId, userId: id }, { signal }).catch((error: unknown) => {
    if (error instanceof SvcError) return undefined
    throw error
  })
  const { first_name = '', last_name = '' } = found ? fieldsIn(found) : {}
  const person = `${String(first_name)} ${String(last_name)}`.trim()
  return person === '' ? id : `${person} (user ${id})`
}

/**
 * Asks for confirmation before an operation that deletes, or ends or gives the access of a person. The question names an
 * organization by its slug, anything else by its id.
 */
export const confirmOperation = async (
  operation: Operation,
  input: Record<string, unknown>,
  answers: Answers,
  context: Context,
  consequence?: Write['consequence'],
): Promise<void> => {
  const deletes = operation.effect === 'delete'
  const isSure = answers.yes && answers.confirm === undefined
  if (isSure && !(deletes && (await context.settings()).protected)) return
  const field = argsOf(operation).at(-1)!
  const id = String(input[field])
  const isOrg = orgFields.includes(field)
  const name = isOrg ? ((await findOrg(id, context)).slug ?? id) : id
  const org = orgIn(input)
  const value = decidingValue(operation, input)
  const what = async (): Promise<string> => {
    const isUser = field === 'userId' || field === 'user_id'
    const shown = isUser ? await userText(id, org, context) : name
    return `${operation.summary.split(';')[0]}: ${shown}${value === undefined ? '' : `, ${value}`}`
  }
  const declined = deletes ? 'Nothing was deleted' : 'Nothing was changed'
  const named = deletes && { name, isGrave: isOrg }
  await confirmWrite({ what, ...named, org, consequence, declined }, answers, context)
}
