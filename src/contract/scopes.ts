/** What a key can do, in the order of lists. */
export const scopes = ['ask', 'read', 'people', 'rules', 'devices', 'keys', 'notify', 'app'] as const

export type Scope = (typeof scopes)[number]

/** With any of these, a key can influence who approves, and so could approve its own request. */
export const influential: readonly Scope[] = ['devices', 'keys', 'people', 'rules']

/** One sentence per scope, for help and documentation. */
export const scopeMeanings: Record<Scope, string> = {
  ask: 'request approvals and verifications, and use their results',
  read: 'read the organization, except keys, auth codes, credentials and message text',
  people: 'users, pending requests and auth codes',
  rules: 'geofences, time slots, groups, rules and the policy',
  devices: 'enrollment links and devices of approvers',
  keys: 'API keys, webhooks, identity provider credentials and the organization itself',
  notify: 'messages and the outbox',
  app: 'what the backend of a mobile or IoT application calls',
}

/** Names for several scopes, for creating a key. */
export const presets = {
  admin: scopes.filter((scope) => scope !== 'ask' && scope !== 'app'),
  all: [...scopes],
} satisfies Record<string, Scope[]>

export type Preset = keyof typeof presets

export const grants = [...scopes, ...(Object.keys(presets) as Preset[])] as const

export const grantMeanings: Record<Scope | Preset, string> = {
  ...scopeMeanings,
  admin: 'every scope except ask and app',
  all: 'every scope',
}

type Needs = { scope?: Scope | readonly Scope[]; operator?: boolean }

/** The scopes that an operation requires, as text: `ask or read`. Undefined if it requires no key. */
export const neededScope = ({ scope, operator }: Needs): string | undefined => {
  if (operator) return 'every scope, without an organization (an operator key)'
  if (scope === undefined) return undefined
  const accepted = [scope].flat()
  return accepted.length === scopes.length ? 'any' : accepted.join(' or ')
}

/** Expands scopes and presets to a list of scopes, in the order of `scopes`, without duplicates. */
export const scopesOf = (granted: readonly (Scope | Preset)[]): Scope[] => {
  const all = new Set<Scope>(
    granted.flatMap((one) => (one in presets ? presets[one as Preset] : [one as Scope])),
  )
  return scopes.filter((scope) => all.has(scope))
}
