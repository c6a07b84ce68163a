import { sha256 } from '../../core/ids.ts'
import { invalid, Refusal } from '../../core/refusal.ts'
import { type Phone, readPhone } from '../../rules/phone.ts'

/** 422 unless exactly one of these fields was given. */
export const oneOf = (input: Record<string, unknown>, names: string[]): void => {
  const count = names.filter((name) => input[name] !== undefined).length
  if (count === 1) return
  const message = `Give exactly one of ${names.join(', ')}`
  throw new Refusal(422, 'invalid_field', `Which user? ${message}`, {
    issues: names
      .filter((name) => count === 0 || input[name] !== undefined)
      .map((field) => ({ field, message })),
  })
}

/** The fields of an update that were given; 422 when there are none. `fixed` may be repeated, and cannot be changed. */
export const changedFields = <T extends object, K extends keyof T & string>(
  input: T,
  names: readonly K[],
  fixed: readonly K[] = [],
): { [N in K]?: Exclude<T[N], undefined> } => {
  const fields = [...names, ...fixed].filter((name) => input[name] !== undefined)
  if (fields.length === 0)
    throw new Refusal(422, 'nothing_to_change', 'Nothing to change', {
      hint: `Give one or more of ${names.join(', ')}`,
    })
  return Object.fromEntries(fields.map((name) => [name, input[name]])) as {
    [N in K]?: Exclude<T[N], undefined>
  }
}

/** The one spelling of a number. Refuses with 422 what no network could dial, under the name `field`. */
export const parsePhone = (mobile: string, countryCode?: string, field = 'mobile'): Phone => {
  const read = readPhone(mobile, countryCode)
  if (!('wrong' in read)) return read
  throw invalid(read.wrong === 'mobile' ? field : read.wrong, read.message, read.hint)
}

/** By what a code is found as somebody typed it: O is 0 there, I and L are 1. Undefined when it can be none. */
export const hashOfCode = (typed: string): string | undefined => {
  const bare = typed.toUpperCase().replace(/[\s-]/g, '').replaceAll('O', '0').replace(/[IL]/g, '1')
  return /^[0-9A-HJKMNP-TV-Z]{16}$/.test(bare) ? sha256(bare) : undefined
}
