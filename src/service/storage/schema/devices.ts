import {
  each,
  flag,
  free,
  id,
  integer,
  integerOf,
  member,
  orgId,
  orNull,
  partOf,
  text,
  textOf,
  wrapped,
} from './columns.ts'
import { sealed, table } from './table.ts'

const ofDevice = { device_id: partOf(integer, 'devices (id)') }

export const devices = {
  /** One-use links with which a person registers a phone. The token hash identifies a row, so that it has its MAC from the start. */
  enrollments: sealed(
    {
      id: free(id),
      ...member,
      /** `user_handle` is the user's id in authenticators; the same for all devices of a member. */
      ...each(text, 'token_hash', 'user_handle', 'expires_at'),
      used_at: orNull(text),
      /** The API key that created the link; null if a device did. */
      created_by: orNull(integer),
      /** The device on whose approver page it was created. */
      added_by: orNull(integer),
    },
    { isOfMember: true, indexes: { token: 'unique (token_hash)', member: '(org_id, user_id)' } },
  ),
  /** The device of a person, in one organization; outlives the membership. Bytes are base64url. */
  devices: sealed(
    {
      id,
      ...orgId,
      user_id: integer,
      name: free(text),
      kind: textOf<'phone' | 'software'>(),
      ...each(text, 'credential_id', 'public_key'),
      algorithm: integerOf<-7 | -8 | -257>(),
      user_handle: text,
      counter: free(integer),
      registered_at: text,
      last_used_at: free(orNull(text)),
      revoked_at: orNull(text),
      /** Only an active device can decide. */
      state: textOf<'pending' | 'active' | 'revoked' | 'refused'>(),
      /** How it became active; for a pending one, what it is waiting for. */
      proof: textOf<'link' | 'otp' | 'device' | 'admin'>(),
      /** When it became active. */
      bound_at: orNull(text),
      /** The cooling period of a recovery: from its approval to `active_from`. */
      ...each(orNull(text), 'approved_at', 'active_from'),
      /** The API key that created its enrollment link; null if a device did. */
      enrolled_by: orNull(integer),
      /** The device on whose approver page its link was created. */
      added_by: orNull(integer),
      /** What approved it, if its proof requires that: another device, or a key (by its first secret). */
      ...each(orNull(integer), 'approved_by', 'approved_by_key'),
      aaguid: orNull(text),
      backup_eligible: orNull(flag),
      attestation_format: orNull(text),
      /** Whether its key was copied to other devices, when it last signed. */
      backed_up: free(orNull(flag)),
      /** Where the key is, as the browser said it at the registration; nothing verifies it. */
      attachment: free(orNull(textOf<'platform' | 'cross-platform'>())),
    },
    {
      indexes: {
        credential: 'unique (credential_id)',
        member: '(org_id, user_id)',
        enrolled_by: '(enrolled_by)',
        added_by: '(added_by)',
        approved_by: '(approved_by)',
        pending: "(active_from) where state = 'pending'",
      },
    },
  ),
  /** Sessions at the approver page; a session ends with its device. */
  approver_sessions: table(
    { id, ...ofDevice, ...each(text, 'token_hash', 'created_at', 'last_seen_at', 'expires_at') },
    { indexes: { token: 'unique (token_hash)', device: '(device_id)' } },
  ),
  /** Answered challenges, until they would have expired. */
  spent_challenges: table({ hash: text, expires_at: text }, { key: ['hash'] }),
  /** Where the phones of a device get their notifications. A synced passkey has several phones. */
  device_push: table(
    {
      ...ofDevice,
      /** The session that subscribed. */
      session_id: integer,
      /** SHA-256, so that the page recognizes its own. */
      endpoint_hash: text,
      wrapped: wrapped('device_id', 'endpoint_hash'),
      created_at: text,
    },
    { key: ['device_id', 'endpoint_hash'] },
  ),
}
