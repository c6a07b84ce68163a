import { argsOf } from '../contract/describe.ts'
import { orgFields, type Operation } from '../contract/operation.ts'
import { SvcError, usageError } from '../core/errors.ts'
import type { Context } from './context.ts'
import { findOrg } from './organization.ts'

type Options = { yes?: boolean; confirm?: string }

/** What a person would call the thing that goes: the slug of an organization, else its id. */
const nameOf = async (
  operation: Operation,
  input: Record<string, unknown>,
  context: Context,
): Promise<string> => {
  const field = argsOf(operation).at(-1)!
  const value = String(input[field])
  return orgFields.includes(field) ? ((await findOrg(value, context)).slug ?? value) : value
}

/**
 * Asks before a delete: default No; in a protected profile the name must be typed. Where nobody can be asked it takes
 * --yes, or --confirm NAME in a protected profile.
 */
export const confirmDelete = async (
  operation: Operation,
  input: Record<string, unknown>,
  options: Options,
  context: Context,
): Promise<void> => {
  const settings = await context.settings()
  if (options.yes && !settings.protected) return
  const name = await nameOf(operation, input, context)
  if (settings.protected && options.confirm === name) return
  if (options.confirm !== undefined)
    throw usageError(`--confirm says "${options.confirm}", but this is "${name}"`, `--confirm ${name}`)

  const prompt = await context.prompt()
  const flag = settings.protected ? `--confirm ${name}` : '--yes'
  if (!prompt)
    throw usageError(
      `svc ${operation.cli} needs ${flag} where nobody can be asked`,
      `svc ${operation.cli} ${name} ${flag}`,
    )

  const where = `${new URL(settings.baseUrl.value).origin}, profile ${settings.profile.value}`
  const what = `${operation.summary}: ${name} (${where}).`
  const agreed = settings.protected
    ? (await prompt.text(`${what} Type ${name} to go on`)) === name
    : await prompt.confirm(`${what} Go on?`)
  if (!agreed) throw new SvcError('failed', 'declined', 'Nothing was deleted')
}
