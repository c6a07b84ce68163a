/** What a row can be: changes that no device signs. Those of rules, groups, keys and devices are asked alone. */
export const batchOperations = [
  'createUser',
  'updateUser',
  'removeUser',
  'holdUser',
  'acceptUser',
  'createGeofence',
  'updateGeofence',
  'deleteGeofence',
  'setUserGeofences',
  'addTimeslot',
  'updateTimeslot',
  'deleteTimeslot',
  'setUserTimeslots',
  'createAuthCode',
  'updateAuthCode',
  'deleteAuthCode',
  'updateOrganization',
] as const
export type BatchOperation = (typeof batchOperations)[number]

/** The most rows of one approval. */
export const mostBatchRows = 10_000
