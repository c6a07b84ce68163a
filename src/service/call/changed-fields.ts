import { Refusal } from '../../core/refusal.ts'

/** The fields of an update that were given; 422 when there are none. `fixed` may be repeated, and cannot be changed. */
export const given = <T extends object, K extends keyof T & string>(
  input: T,
  names: readonly K[],
  fixed: readonly K[] = [],
): Partial<Pick<T, K>> => {
  const fields = [...names, ...fixed].filter((name) => input[name] !== undefined)
  if (fields.length === 0)
    throw new Refusal(422, 'nothing_to_change', 'Nothing to change', {
      hint: `Give one or more of ${names.join(', ')}`,
    })
  return Object.fromEntries(fields.map((name) => [name, input[name]])) as Partial<Pick<T, K>>
}
