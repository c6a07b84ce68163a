import { readLines } from '../../contract/approvers.ts'
import { argsOf, fieldsOf } from '../../contract/describe.ts'
import type { Field, Operation } from '../../contract/operation.ts'
import { pathNames } from '../../contract/path.ts'
import { usageError } from '../../core/errors.ts'
import { readBody, type BodyFlags } from './body-fields.ts'
import type { Context } from '../context/context.ts'
import { optionKey, parseValue, put, type Gathered } from './flags.ts'
import type { Typed } from '../program/define-command.ts'
import { isOrg, organizationValue } from '../context/organization.ts'
import { named } from '../context/settings.ts'
import { typedName } from './typed-names.ts'

const typedValue = (operation: Operation, field: Field, typed: Typed): unknown => {
  const index = argsOf(operation).indexOf(field.name)
  return index >= 0 ? typed.args[index] : typed.options[optionKey(field.flag)]
}

const split = (list: string | undefined): string[] | undefined => list?.split(',').map((word) => word.trim())

/** The default from the environment or the profile: the organization, the approver, the factors or the requester. */
const fromSettings = async (field: Field, context: Context): Promise<unknown> => {
  const { org, defaultMobile, defaultFactors, requestFrom } = await context.settings()
  if (isOrg(field)) return org?.value
  const mobile = named(defaultMobile, 'SVC_DEFAULT_MOBILE', 'default_mobile')
  if (field.name === 'approvers') return mobile && readLines(mobile)
  if (field.name === 'default_factors') return split(defaultFactors?.value)
  return field.name === 'requester' ? requestFrom?.value : undefined
}

const exampleOf = (field: Field): string => {
  if (isOrg(field)) return 'acme'
  const [example] = field.meta.examples ?? []
  // From standard input: a file of that name is unlikely to exist.
  if (field.meta.secret) return '-'
  if (example === undefined) return field.flag.toUpperCase()
  return field.kind === 'json' ? JSON.stringify(example) : String(example)
}

/** The typed command, completed with examples of the missing values. */
const withMissing = async (
  operation: Operation,
  missing: readonly Field[],
  { args }: Typed,
  { command }: Context,
): Promise<string> => {
  if (!command) return `svc ${operation.cli} ${operation.example ?? ''}`.trimEnd()
  const positional = argsOf(operation)
  const isPositional = (field: Field): boolean => positional.includes(field.name)
  return command.again({
    ...(missing.some(isPositional) && { args: [...args, ...missing.filter(isPositional).map(exampleOf)] }),
    plus: missing.flatMap((field) => (isPositional(field) ? [] : [`--${field.flag}`, exampleOf(field)])),
  })
}

const isMissing = (
  { name, required, path, meta: { source, unless } }: Field,
  { options }: Typed,
  { extra, inPath }: { extra: object | undefined; inPath: string[] },
): boolean =>
  required &&
  !Object.hasOwn(extra ?? {}, path[0]!) &&
  (unless === undefined ||
    (options[optionKey(unless)] === undefined && !Object.hasOwn(extra ?? {}, unless))) &&
  // With additional body fields, a third-party service may need fewer of ours: svc requires only what the spec shows.
  (extra === undefined || source === 'shown' || inPath.includes(name))

/**
 * The input of an operation from flags, arguments, defaults of the environment and profile, additional body fields and, on
 * a terminal, prompts. Without a terminal a missing value is a usage error that names the flag.
 */
export const gatherInput = async (
  operation: Operation,
  typed: Typed,
  context: Context,
): Promise<Gathered> => {
  const input: Record<string, unknown> = {}
  const missing: Field[] = []
  const extra = await readBody(typed.options as BodyFlags, context.io)
  const inPath = pathNames(operation.path)
  const wrong = Object.keys(extra ?? {}).find((name) => inPath.includes(name))
  if (wrong)
    throw usageError(
      `${wrong} is part of the address and cannot be a body field`,
      `svc ${operation.cli} ${operation.example ?? ''}`.trimEnd(),
    )

  for (const field of fieldsOf(operation)) {
    let raw = typedValue(operation, field, typed)
    // An emergency asks whom the rules name for it.
    const isLeftOut = field.name === 'approvers' && typed.options.breakGlass !== undefined
    // Nobody deletes an organization that they did not name.
    const isGrave = operation.effect === 'delete' && argsOf(operation).includes(field.name)
    if ((isOrg(field) && !isGrave) || (operation.effect === 'notifies' && !isLeftOut))
      raw ??= await fromSettings(field, context)
    if (isOrg(field) && raw === '') raw = undefined
    if (raw !== undefined) {
      const value = isOrg(field)
        ? await organizationValue(field, String(raw), context)
        : await parseValue(field, raw, context.io, typedName(operation, field))
      put(input, field.path, value)
    } else if (isMissing(field, typed, { extra, inPath })) missing.push(field)
  }

  if (missing.length > 0 && !(await context.prompt()))
    throw usageError(
      `Missing ${missing.map((field) => typedName(operation, field)).join(', ')}`,
      await withMissing(operation, missing, typed, context),
    )
  for (const field of missing) {
    const { askField } = await import('./ask.ts')
    put(input, field.path, await askField(operation, field, context))
  }
  return { input, extra: extra ?? {} }
}
