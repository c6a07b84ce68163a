import { scopes, type Scope } from '../../src/contract/scopes.ts'

/** What a key of onboarding may do. */
export const allScopes: ReadonlySet<Scope> = new Set(scopes)
