/** Values that only the service or the profile file knows. */
export const kinds = ['org', 'user', 'geofence', 'timeslot', 'profile'] as const
export type ValueKind = (typeof kinds)[number]

const byFlag: Record<string, ValueKind> = { '--org': 'org', '--user': 'user', '--profile': 'profile' }

/** What a flag takes, by its names; undefined where that is no list that can be looked up. */
export const kindOfFlag = (names: readonly string[]): ValueKind | undefined =>
  names.map((name) => byFlag[name]).find((kind) => kind !== undefined)

/** What the first argument of the command at this place is. */
export const kindOfArgument = (at: string, argument: string | undefined): ValueKind | undefined => {
  const [group, verb] = at.split(' ')
  if (argument === 'orgIdOrSlug' || argument === 'org_id') return 'org'
  if (argument === 'user_id' || argument === 'userId') return 'user'
  if (argument === 'timeslot_id') return 'timeslot'
  if (argument === 'id' && group === 'geofence') return 'geofence'
  const named = group === 'profile' && (argument === 'name' || verb === 'set')
  return named && verb !== 'add' ? 'profile' : undefined
}
