/** Values that only the service, the profile file or the table knows. `field` is a list with commas. */
export const kinds = ['org', 'user', 'geofence', 'timeslot', 'request', 'profile', 'field'] as const
export type ValueKind = (typeof kinds)[number]

/** A value that is offered, and what it is. */
export type Candidate = { value: string; about: string }

const byFlag: Record<string, ValueKind> = {
  '--org': 'org',
  '--user': 'user',
  '--profile': 'profile',
  '--json': 'field',
}

/** What a flag takes, by its names; undefined where that is no list that can be looked up. */
export const kindOfFlag = (names: readonly string[]): ValueKind | undefined =>
  names.map((name) => byFlag[name]).find((kind) => kind !== undefined)

/** What the first argument of the command at this place is. */
export const kindOfArgument = (at: string, argument: string | undefined): ValueKind | undefined => {
  const [group, verb] = at.split(' ')
  if (argument === 'org') return 'org'
  if (argument === 'user-id') return 'user'
  if (argument === 'timeslot-id') return 'timeslot'
  if (argument === 'geofence-id') return 'geofence'
  if (argument === 'request-id' && group === 'approve') return 'request'
  const named = group === 'profile' && (argument === 'name' || verb === 'set')
  return named && verb !== 'create' ? 'profile' : undefined
}
