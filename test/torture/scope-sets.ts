import { scopes, type Scope } from '../../src/contract/scopes.ts'

/** Every non-empty set of these scopes. */
export const setsOf = (from: readonly Scope[] = scopes): Scope[][] =>
  Array.from({ length: 2 ** from.length - 1 }, (_, n) =>
    from.filter((_one, bit) => (((n + 1) >> bit) & 1) === 1),
  )
