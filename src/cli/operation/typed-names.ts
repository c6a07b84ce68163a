import type { Answer, CallOptions, Client } from '../../client/client.ts'
import { argsOf, argumentName, fieldsOf } from '../../contract/describe.ts'
import { orgFields, type Data, type Field, type Input, type Operation } from '../../contract/operation.ts'
import { SvcError, type Issue } from '../../core/errors.ts'
import { shellQuote } from '../../core/shell-quote.ts'

/** The argument or flag of a field: `<user-id>`, `--to`. */
export const typedName = (operation: Operation, field: Field): string =>
  argsOf(operation).includes(field.name) ? `<${argumentName(field)}>` : `--${field.flag}`

/** The error codes about the input, as opposed to a refusal. */
const inputCodes = new Set(['invalid_field', 'nothing_to_change', 'filter_ignored'])

type Names = (text: string) => string

/** The flags that set a field together. */
const flagsWithin = (operation: Operation, name: string): string[] =>
  fieldsOf(operation)
    .filter(({ path }) => path.length > 1 && path[0] === name)
    .map((field) => typedName(operation, field))

/** `policy.ip_allow[0]` as `--ip-allow[0]`; a field without a flag keeps its name. */
const nameOfIssue = (operation: Operation, field: string): string => {
  const known = fieldsOf(operation).find(
    ({ path }) =>
      field === path.join('.') ||
      (/^[.[]/.test(field.slice(path.join('.').length)) && field.startsWith(path.join('.'))),
  )
  if (!known) return flagsWithin(operation, field).join(' or ') || field
  // A flag that is repeated has no number on the command line.
  return typedName(operation, known) + (known.meta.repeat ? '' : field.slice(known.path.join('.').length))
}

/** Replaces field names in a sentence: names with an underscore, in a list of choices, and beside another field. */
const namesInText = (operation: Operation): Names => {
  const typed = new Map(fieldsOf(operation).map((field) => [field.name, typedName(operation, field)]))
  /** A field that several flags set, such as `policy`, becomes all of them. */
  const word: Names = (name) => flagsWithin(operation, name).join(', ') || (typed.get(name) ?? name)
  return (text) =>
    text
      .replace(
        /\b(one (?:or more )?of) ([\w, ]+)/g,
        (_, start: string, list: string) => `${start} ${list.replace(/\w+/g, word)}`,
      )
      .replace(
        /\b(or|combined with|required with) ([a-z]+)(?= is required|$|:)/g,
        (_, start: string, name: string) => `${start} ${word(name)}`,
      )
      .replace(/(?<![\w-])[a-z]+(?:_[a-z]+)+\b/g, word)
}

/**
 * An error about the input of an operation, with the flags and arguments of the command line (`--to`, `<user-id>`) instead
 * of field names. Returns other errors unchanged.
 */
export const inTypedNames = (operation: Operation, error: unknown): unknown => {
  if (!(error instanceof SvcError) || !inputCodes.has(error.code)) return error
  const inText = namesInText(operation)
  const issues = error.issues?.map(({ field, message }): Issue => ({
    field: nameOfIssue(operation, field),
    message: inText(message),
  }))
  const first = error.issues?.[0]
  const message =
    first && error.message.startsWith(`${first.field} `)
      ? issues![0]!.field + inText(error.message.slice(first.field.length))
      : inText(error.message)
  // The hint of the service refers to an HTTP header.
  const own = first?.field === 'cursor' ? 'Copy it from the "More:" line below the list' : undefined
  return error.with({ message, issues, hint: own ?? (error.hint && inText(error.hint)) })
}

const letters: Names = (text) => text.toLowerCase().replace(/[^a-z]/g, '')

/** Adds the typed value to a not-found error: `User 7 not found`. */
const withTypedValue = (operation: Operation, input: Record<string, unknown>, error: unknown): unknown => {
  if (!(error instanceof SvcError) || error.code !== 'not_found') return error
  const [, noun] = /^([A-Z][a-z -]{2,30}) not found$/.exec(error.message) ?? []
  if (noun === undefined) return error
  const word = noun === 'Organization' ? 'org' : letters(noun)
  const field = fieldsOf(operation).find(({ flag, meta }) => !meta.secret && letters(flag).startsWith(word))
  const value = field && input[field.name]
  if (value === undefined) return error
  const shown = /^\d+$/.test(String(value)) ? String(value) : JSON.stringify(value)
  const org = orgFields.map((name) => input[name]).find((given) => given !== undefined)
  const hint =
    noun === 'User' && org !== undefined && String(value).includes('@')
      ? `svc user details --org ${shellQuote(String(org))} --email ${shellQuote(String(value))} shows the id`
      : error.hint
  return error.with({ message: `${noun} ${shown} not found`, hint })
}

/** The result of a call, with the typed names and values in its errors. */
export const asTyped = <T>(
  operation: Operation,
  input: Record<string, unknown>,
  result: Promise<T>,
): Promise<T> =>
  result.catch((error: unknown) => {
    throw withTypedValue(operation, input, inTypedNames(operation, error))
  })

/** Calls an operation with input that was typed, which the service checks. */
export const callTyped = <O extends Operation>(
  client: Client,
  operation: O,
  input: Record<string, unknown>,
  options: CallOptions,
): Promise<Answer<Data<O>>> => asTyped(operation, input, client.call(operation, input as Input<O>, options))
