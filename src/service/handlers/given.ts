import { Refusal } from '../refusal.ts'

/** The fields of an update that were given; 422 when there are none. */
export const given = <T extends object, K extends keyof T & string>(
  input: T,
  names: readonly K[],
): Partial<Pick<T, K>> => {
  const fields = names.filter((name) => input[name] !== undefined)
  if (fields.length === 0)
    throw new Refusal(422, 'nothing_to_change', 'Nothing to change', {
      hint: `give one or more of ${names.join(', ')}`,
    })
  return Object.fromEntries(fields.map((name) => [name, input[name]])) as Partial<Pick<T, K>>
}
