import type { pendingUser } from '../../contract/pending-user.ts'
import type { user } from '../../contract/user.ts'
import type { Handlers } from '../call/call.ts'
import { createUser, getUser, listPendingUsers, listUsers, updateUser } from '../members/users.ts'
import { getUserDetails, getUserOrganization, listUserOrganizations } from '../mobile/lookup.ts'
import { listUserRules } from '../policy/user-rules.ts'
import { membershipHandlers } from './membership.ts'

export const userHandlers: Handlers<typeof user & typeof pendingUser> = {
  listUsers,
  listPendingUsers,
  getUser,
  createUser,
  updateUser,
  getUserDetails,
  getUserOrganization,
  listUserOrganizations,
  listUserRules,
  ...membershipHandlers,
}
