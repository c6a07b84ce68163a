import type { org } from '../../contract/org.ts'
import type { Handlers } from '../call/call.ts'
import {
  deleteOrganization,
  insertOrganization,
  listOrganizations,
  readOrganization,
  updateOrganization,
} from '../members/organization.ts'

type Group =
  | 'listOrganizations'
  | 'getOrganization'
  | 'createOrganization'
  | 'updateOrganization'
  | 'deleteOrganization'

export const orgHandlers: Pick<Handlers<typeof org>, Group> = {
  listOrganizations: (_, call) => listOrganizations(call),
  getOrganization: ({ orgIdOrSlug }, call) => readOrganization(call, orgIdOrSlug),
  createOrganization: (input, call) => insertOrganization(call, input),
  updateOrganization: (input, call) => updateOrganization(call, input),
  deleteOrganization: ({ org_id }, call) => deleteOrganization(call, org_id),
}
