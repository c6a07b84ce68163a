import { each, free, id, integer, member, orNull, partOf, text, wrapped } from './columns.ts'
import { sealed, table } from './table.ts'

const ofPerson = { org_id: integer, user_id: partOf(integer, 'people (id)') }

/**
 * Accounts of apps. `org_id` is the organization of the key that was used, or 0 for an operator's, so it is no foreign key. A key
 * sees only the rows of its own organization.
 */
export const mobile = {
  /** A registration by an app, until the owner of the phone confirms it. A number can have several. `profile` is JSON. */
  registrations: sealed(
    { id: free(id), ...ofPerson, ...each(text, 'token_hash', 'profile', 'created_at', 'expires_at') },
    { indexes: { user: '(user_id, org_id)' } },
  ),
  /** A person who confirmed their phone; in an organization only once they are its member. */
  mobile_accounts: sealed(
    {
      id: free(id),
      ...ofPerson,
      ...each(free(text), 'first_name', 'last_name'),
      ...each(orNull(text), 'email', 'email_verified_at'),
      /** When the address last changed. */
      email_changed_at: orNull(text),
      /** What says which phone is theirs. */
      ...each(orNull(text), 'device_id', 'imei'),
      ...each(free(orNull(text)), 'platform', 'device_name'),
      ...each(free(text), 'created_at', 'updated_at'),
    },
    { indexes: { user: 'unique (user_id, org_id)' } },
  ),
  /** The latest code of a phone; a new one replaces it. */
  otps: table(
    {
      org_id: integer,
      ...each(text, 'mobile', 'salt', 'expires_at'),
      wrapped_hash: wrapped('org_id', 'mobile'),
      used_at: orNull(text),
    },
    { key: ['org_id', 'mobile'] },
  ),
  /** The recent uses of a rate limit, by kind and subject, until they no longer count. */
  turns: table(
    { ...each(integer, 'org_id', 'slot'), ...each(text, 'kind', 'subject', 'at', 'until') },
    { key: ['org_id', 'kind', 'subject', 'slot'], indexes: { until: '(until)' } },
  ),
  /** A sign-in of an account; all its tokens end together. */
  token_families: table(
    { ...ofPerson, ...each(text, 'family', 'created_at'), ended_at: orNull(text) },
    { key: ['family'], indexes: { user: '(user_id)' } },
  ),
  /** Each works once; using one again ends its family. With its use, a row loses its MAC. */
  refresh_tokens: sealed(
    {
      id: free(id),
      family: partOf(text, 'token_families (family)'),
      ...member,
      ...each(text, 'token_hash', 'created_at', 'expires_at'),
      spent_at: free(orNull(text)),
    },
    { indexes: { token: 'unique (token_hash)', family: '(family)' } },
  ),
  email_verifications: sealed(
    {
      id: free(id),
      ...ofPerson,
      ...each(text, 'email', 'token_hash', 'created_at', 'expires_at'),
      used_at: free(orNull(text)),
    },
    { indexes: { token: 'unique (token_hash)', user: '(user_id)' } },
  ),
}
