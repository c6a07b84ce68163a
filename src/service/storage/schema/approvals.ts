import { each, flag, free, id, integer, orgId, orNull, partOf, text, textOf, withDefault } from './columns.ts'
import { sealed, table } from './table.ts'

const ofRequest = { request_id: partOf(text, 'approvals (request_id)') }

/** `approvals`, `verifications` and `mutes` outlive a membership: a person who is deleted and created again keeps them. */
export const approvals = {
  // The MAC covers the request, its key and its approver, how it ended, and its use. The receipt proves the rest.
  approvals: sealed(
    {
      id: free(id),
      ...orgId,
      request_id: text,
      /**
       * The requesting secret. No foreign key, because 0 is the bearer token of the tool server, which is not in the store.
       */
      key_id: integer,
      /** The owner of the request: the first secret of that key, also after rotations. */
      asked_by: integer,
      /** The requester as it names itself; the approver signs it. */
      requester: text,
      /** The verified identity of the requester. */
      verified_as: text,
      action: text,
      reason: orNull(text),
      /** The only person who was named, else the first who is asked. */
      approver_mobile: text,
      /** Who must agree, as JSON; see `approvals/lines.ts`. */
      lines: text,
      /** What each person answered, as JSON; null before the first. The ballots prove it. */
      answers: orNull(text),
      /** The rules that held the request, by name and digest, as JSON. */
      rules: text,
      /** Who is in a line but was not asked, and why, as JSON. */
      excluded: text,
      factors: text,
      number: orNull(text),
      status: withDefault(textOf<'pending' | 'approved' | 'denied' | 'expired'>(), 'pending'),
      detail: orNull(text),
      /** What the approver wrote with a denial; the device signed it. */
      note: orNull(text),
      ...each(text, 'requested_at', 'expires_at'),
      decided_at: orNull(text),
      /** When it stopped being pending. */
      ended_at: orNull(text),
      /** When to notify the people again who have not answered; null for a short request, and afterwards. */
      remind_at: free(orNull(text)),
      /** The person whose ballot ended it. */
      decided_by: orNull(integer),
      /** What proves the outcome: the receipt of that person, or the set of receipts of several. */
      attestation: free(orNull(text)),
      /** The results of the rules at the decision, by factor. */
      ruling: orNull(text),
      /** When its approver was deleted: the row is hidden and counts only for rate limits. */
      erased_at: free(orNull(text)),
      /** The subject of the approval: canonical JSON, null once it was cleared, and its SHA-256. */
      subject_type: text,
      subject_data: orNull(text),
      subject_digest: text,
      /** The key at the time of the request; scopes are a comma list. */
      ...each(text, 'key_name', 'key_scopes'),
      /** Whether the key could influence who approves. */
      key_influences: flag,
      /** 1 if the service created the request because a rule of the organization requires an approval. */
      by_rule: flag,
      org_slug: text,
      /** For how many seconds after the approval it can be used. */
      use_within_s: integer,
      /** Set by the approval: until when it can be used. */
      use_by: orNull(text),
      used_at: orNull(text),
      /** When somebody wanted to use it too late: a clock that is set back does not make that possible again. */
      lapsed_at: free(orNull(text)),
      /** When its texts, numbers and locations were cleared, and the SHA-256 of the cleared receipt. */
      ...each(free(orNull(text)), 'cleared_at', 'receipt_digest'),
      /** The IP address of the requester; null if there was none. */
      asked_from: orNull(text),
      /** The interface that the request came through. */
      asked_via: textOf<'api' | 'tools'>(),
      /** The owner of the key, as JSON; null if it has none. */
      key_owner: orNull(text),
      /** Default factors that there was nothing to check against, as JSON; null if there is none. */
      unchecked_factors: orNull(text),
      /** What its approver can grant, as JSON; null if they cannot. */
      grant_terms: orNull(text),
      /** Until when it was granted; the grant can have ended since. */
      granted_until: free(orNull(text)),
      /** Of a use of a grant: the request with which it was granted, and which use it is. No person saw it. */
      granted_by: orNull(text),
      grant_use: orNull(integer),
      /** Why it broke the glass, whom it skips and who was told, as JSON; null for any other request. */
      break_glass: orNull(text),
    },
    {
      indexes: {
        request: 'unique (request_id)',
        grant_use: 'unique (granted_by, grant_use) where granted_by is not null',
        due: '(status, expires_at)',
        status_at: '(status, requested_at, id)',
        remind: "(remind_at) where status = 'pending'",
        grant_notice: '(remind_at) where granted_by is not null and remind_at is not null',
        ended: '(ended_at)',
        erased: '(erased_at) where erased_at is not null',
        broken_glass: '(org_id, requested_at) where break_glass is not null',
        kept: '(cleared_at, ended_at)',
        at: '(requested_at, id)',
        org_id: '(org_id, id)',
        org_at: '(org_id, requested_at, id)',
        denied: "(org_id, subject_digest, id) where status = 'denied'",
        org_status: '(org_id, status, requested_at, id)',
      },
    },
  ),
  /** What each person who is asked answers. The first denial ends the request. */
  ballots: sealed(
    {
      id: free(id),
      ...ofRequest,
      ...each(integer, 'org_id', 'user_id'),
      /** The person as they were when the request was made; they sign it. */
      ...each(text, 'mobile', 'name'),
      /** Whether another active member had this name, or one that looks like it. */
      twin: flag,
      nonce: text,
      number_tries: free(withDefault(integer, 0)),
      status: withDefault(textOf<'pending' | 'approved' | 'denied'>(), 'pending'),
      decided_at: orNull(text),
      device_id: orNull(integer),
      /** The receipt of a yes, while the others are still asked. */
      attestation: orNull(text),
      /** SHA-256 of the decision that was counted last, as it was posted: a repeat gets the same answer. */
      decision_digest: free(orNull(text)),
      requested_at: text,
      /** The requesting key, by its first secret, if it had never asked this person before. */
      first_asked_by: orNull(integer),
    },
    {
      indexes: {
        person: 'unique (request_id, user_id)',
        first: '(org_id, first_asked_by, user_id) where first_asked_by is not null',
        history: '(org_id, user_id, requested_at, id)',
      },
    },
  ),
  /** The changes that one request asks for together. Each is used once. */
  batch_rows: sealed(
    {
      id: free(id),
      ...ofRequest,
      org_id: integer,
      /** Its place in the list that people agreed to, from 0. */
      row_index: integer,
      /** What a request for this change alone would ask, as canonical JSON, and its SHA-256, which proves what it is of. */
      data: free(text),
      digest: text,
      used_at: orNull(text),
    },
    { indexes: { index: 'unique (request_id, row_index)' } },
  ),
  /**
   * One-time verifications of a person: by a prompt on the phone (the approval `request_id`) or with a token. With its use, a
   * row loses its MAC.
   */
  verifications: sealed(
    {
      id: free(id),
      ...orgId,
      user_id: integer,
      request_id: text,
      /** The requesting key. */
      key_id: integer,
      kind: textOf<'prompt' | 'token'>(),
      token_hash: orNull(text),
      ...each(text, 'created_at', 'expires_at'),
      spent_at: free(orNull(text)),
      /** The result that used it up. */
      outcome: free(orNull(textOf<'success' | 'denied'>())),
      /** Who reported the result. */
      source: free(orNull(textOf<'service' | 'caller'>())),
    },
    {
      indexes: {
        request: 'unique (request_id)',
        token: 'unique (token_hash)',
        member: '(user_id, org_id, id)',
        created: '(created_at)',
      },
    },
  ),
  /**
   * Keys, by their first secret, that an approver has muted for a while. `agent` is the requester if several agents share the
   * bearer token of the tool server, otherwise empty.
   */
  mutes: table(
    { ...orgId, ...each(integer, 'user_id', 'key_id'), ...each(text, 'agent', 'until') },
    { key: ['org_id', 'user_id', 'key_id', 'agent'] },
  ),
}
