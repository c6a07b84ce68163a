import { Refusal } from '../../core/refusal.ts'

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
