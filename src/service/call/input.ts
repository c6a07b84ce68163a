import { sha256 } from '../../core/ids.ts'
import { invalid, Refusal } from '../../core/refusal.ts'
import { type Phone, readPhone } from '../../factors/phone.ts'

/** Throws 422 unless exactly one of these fields is set. */
export const oneOf = (input: Record<string, unknown>, names: string[]): void => {
  const count = names.filter((name) => input[name] !== undefined).length
  if (count === 1) return
  const message = `Set exactly one of ${names.join(', ')}`
  throw new Refusal(422, 'invalid_field', message, {
    issues: names
      .filter((name) => count === 0 || input[name] !== undefined)
      .map((field) => ({ field, message })),
  })
}

/** The fields that an update sets; throws 422 if there are none. `fixed` fields may be sent, but cannot change. */
export const changedFields = <T extends object, K extends keyof T & string>(
  input: T,
  names: readonly K[],
  fixed: readonly K[] = [],
): { [N in K]?: Exclude<T[N], undefined> } => {
  const fields = [...names, ...fixed].filter((name) => input[name] !== undefined)
  if (fields.length === 0)
    throw new Refusal(422, 'nothing_to_change', 'Nothing to change', {
      hint: `Set one or more of ${names.join(', ')}`,
    })
  return Object.fromEntries(fields.map((name) => [name, input[name]])) as {
    [N in K]?: Exclude<T[N], undefined>
  }
}

/** Normalizes a phone number. Throws 422 for an impossible number, under the name `field`. */
export const parsePhone = (mobile: string, countryCode?: string, field = 'mobile'): Phone => {
  const read = readPhone(mobile, countryCode)
  if (!('wrong' in read)) return read
  throw invalid(read.wrong === 'mobile' ? field : read.wrong, read.message, read.hint)
}

/** The hash of a typed code, in which O means 0, and I and L mean 1. Undefined if it is not a possible code. */
export const hashOfCode = (typed: string): string | undefined => {
  const bare = typed.toUpperCase().replace(/[\s-]/g, '').replaceAll('O', '0').replace(/[IL]/g, '1')
  return /^[0-9A-HJKMNP-TV-Z]{16}$/.test(bare) ? sha256(bare) : undefined
}
