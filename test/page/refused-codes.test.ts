import { expect, test } from 'vitest'
import { sourceTree } from '../source-tree.ts'
import { english } from './english.ts'

const refused = english['refused']!

/** Codes that no operation of the page answers with. Whoever adds a code adds a text for it, or puts it here. */
const elsewhere = {
  'of calls with an API key': `administrator_approves already_in_group approval_required batch_conflict bad_idempotency_key idempotency_key_reused group_exists group_full group_in_use group_name_used groups_altered key_expired
    comparison_differs key_not_authentic key_of_agent key_without_owner key_revoked key_rotated last_of_group last_operator_key member_not_enrolled mobile_is_identity name_taken no_rule_holds not_signed_in not_your_key
    nothing_to_change nothing_to_review not_your_review operator_key operator_only own_mute policy_protected response_not_authentic rule_exists rule_not_completable scope_missing secret_replaced signed_out slug_taken store_changed too_many_creators too_many_lists
    too_many_rules too_many_secrets too_many_webhooks
    unauthenticated`,
  'of a request or of the use of an approval': `approver_away approver_not_enrolled approver_not_separated break_glass_asked_often break_glass_exhausted
     break_glass_not_allowed break_glass_not_signed_in break_glass_unheard break_glass_unreviewed factor_unchecked grant_over muted
    approver_left not_approved other_subject organization_altered requester_not_confirmed rules_changed sender_not_active several_users subject_too_large too_many_pending too_many_rings
    unknown_approval use_by_passed`,
  'of a device that registers, which has texts of its own': `attestation_required authenticator_not_allowed key_can_be_copied
    model_not_allowed`,
  'of the mobile app, verifications, machines and messages': `auth_code_invalid being_sent invalid_grant login_refused
    machine_exists message_erased no_email not_registered pending private_address quotes_unavailable
    refresh_token_invalid refused_for_good registered_twice spent too_many_logins too_many_messages
    too_many_registrations`,
  'of HTTP: the page sends what is accepted': `foreign_origin incomplete_body malformed method_not_allowed
    plain_http too_large unsupported_encoding unsupported_media_type wrong_host`,
  'of a service that is not ready (5xx): the page says that it cannot be reached': `database_connections database_disk_full
    database_failed database_login database_read_only database_rights database_starting database_timeout database_tls
    database_unreachable internal_error no_database no_signing_key outcome_unknown page_missing storage_unavailable
    store_busy store_damaged store_disk_full store_unwritable`,
}

const named =
  /(?:\b(?:forbidden|conflict|tooSoon|Refusal)\(\s*(?:\d{3},\s*)?|\bcode: )(['`])([a-z_]+)(?:\$\{[\w.]+\})?\1/g

/** The codes of the service. One with a value in its name, as in `already_${status}`, ends with `_`. */
const codes = [
  ...new Set(
    sourceTree()
      .filter(({ file }) => /^src\/(?:service|core|factors)\//.test(file))
      .flatMap(({ text }) => [...text.matchAll(named)].map(([, , code]) => code!)),
  ),
]

/** As the page looks them up. */
const keyOf = (code: string): string => code.replace(/^(already|user)_.*/, '$1_changed')

const notOnThePage = new Set(Object.values(elsewhere).flatMap((list) => list.split(/\s+/)))

test('each code that the page can get has a text', () => {
  expect(codes.length).toBeGreaterThan(100)
  const stated = codes.filter((code) => !code.endsWith('_') || keyOf(code) !== code)
  expect(stated.filter((code) => !notOnThePage.has(code) && !(keyOf(code) in refused))).toEqual([])
})

test('no text is for a code that does not exist', () => {
  const keys = new Set(codes.map(keyOf))
  expect(Object.keys(refused).filter((key) => !keys.has(key))).toEqual([])
  expect([...notOnThePage].filter((code) => !codes.includes(code))).toEqual([])
})

test('a code with a state in its name has a text for each state', () => {
  for (const state of ['pending', 'active', 'revoked', 'refused'])
    expect(refused).toHaveProperty(`device_${state}`)
})
