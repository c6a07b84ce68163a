/** What a factor of a rule is checked against, and the command that creates one. */
export const checkedAgainst = {
  location: {
    noun: 'geofence',
    command:
      'svc geofence create --name NAME --latitude DEGREES --longitude DEGREES --radius METRES --is-active 1',
  },
  time: {
    noun: 'time slot',
    command:
      'svc timeslot create --name NAME --days mon,tue,wed,thu,fri --start 09:00 --end 17:00 --timezone ZONE',
  },
} as const

/** The device itself answers for the other two: it verifies its user and signs each approval. */
export type CheckedFactor = keyof typeof checkedAgainst
