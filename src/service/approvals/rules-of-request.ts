import type { Rule } from '../../contract/rule-shape.ts'
import { conflict, forbidden, invalid, Refusal } from '../../core/refusal.ts'
import { factsOf } from '../../rules/facts.ts'
import { grantTermsOf } from '../../rules/grant-terms.ts'
import { type Terms, termsOf, unmetReason } from '../../rules/terms.ts'
import type { GrantTerms } from '../../receipt/context.ts'
import type { Subject } from '../../receipt/subject.ts'
import type { Call, Requirement, RequiredLine } from '../call/call.ts'
import type { Caller } from '../call/caller.ts'
import type { RowInput } from '../call/row-ids.ts'
import type { Book } from '../policy/group-rows.ts'
import { bookOf, requirementOf, ruleDigest } from '../policy/rules.ts'
import { askAgain } from './ask-again.ts'
import { emergencyLifetime, emergencyLines } from './break-glass.ts'
import { rulesHolding } from './holding.ts'
import { reasonHeader } from './held-reason.ts'
import { readKeyOwner } from './key-owner.ts'
import { type HoldingRule, readRules } from './lines.ts'
import { wantedLines } from './wanted-lines.ts'
import type { ApprovalRow } from './rows.ts'
import { storedSubject } from './record.ts'

// The rules that hold a request: they add lines to those that the requester named, and the strictest terms of all count.

type ApprovalInput = RowInput<'createApproval'>

type Asked = {
  input: ApprovalInput
  subject: Subject
  held: Requirement | undefined
  via: 'api' | 'tools'
}

type RequestRules = {
  wanted: { orgId: number; lines: RequiredLine[] }
  rules: HoldingRule[]
  terms: Terms
  /** What the rules let the approver grant. */
  grant?: GrantTerms | undefined
  /** The lines that a request skips because it breaks the glass. */
  skipped?: readonly RequiredLine[]
}

const approverRequired = (): Refusal =>
  invalid(
    'approvers',
    'must name somebody: no rule of the organization holds this request',
    'Name a person or a group: --to +12025550101 or --to @sre',
  )

/** A program reads the demand in `data`, to prompt for it. */
const reasonRequired = (
  { name, reason: { prompt, pattern, example = 'Fixes the login outage' } = {} }: Rule,
  given: string | undefined,
  held: Requirement | undefined,
): Refusal => {
  const required = `is required by the rule ${name}${prompt === undefined ? '' : `: ${prompt}`}`
  const isGiven = given !== undefined && given.trim() !== ''
  const message = isGiven
    ? `must match ${pattern} (rule ${name}${prompt === undefined ? '' : `: ${prompt}`}), not ${JSON.stringify(given)}`
    : `${required}${pattern === undefined ? '' : `, and must match ${pattern}`}`
  return new Refusal(422, 'invalid_field', `reason ${message}`, {
    issues: [{ field: 'reason', message }],
    hint: `Say why: --reason '${example}'${held ? `; over HTTP in the header ${reasonHeader}` : ''}`,
    data: { reason: { rule: name, prompt, pattern, example } },
  })
}

const notConfirmed = ({ name }: Rule, { keyId, ownerId, orgId, byCode }: Caller): Refusal => {
  const confirm =
    orgId === null || ownerId === undefined
      ? 'use a key with an owner, who then confirms it: svc key create --name NAME --can ask --owner ID --org ORG'
      : `have the owner confirm the key on their phone: svc key confirm-owner ${keyId}`
  return forbidden(
    'requester_not_confirmed',
    `The rule ${name} accepts only keys whose owner confirmed them on a device, and no terminal that was signed in with a code`,
    `Sign in with a browser: svc profile login${byCode ? '' : `. Or ${confirm}`}`,
  )
}

const tooLong = (): Refusal =>
  invalid(
    'lifetime_s',
    'must be 3600 or less: no rule allows this request to wait longer',
    'Leave it out, or set lifetime_s in a rule that holds the request',
  )

/** Why the caller must not ask under these rules; undefined if it may. */
export const requesterProblem = async (
  call: Call,
  orgId: number,
  rules: readonly Rule[],
): Promise<Refusal | undefined> => {
  const strict = rules.find(({ requester }) => requester === 'confirmed')
  if (!strict) return undefined
  // Whoever typed a code cannot know whose terminal it signed in.
  const isConfirmed = !call.caller.byCode && (await readKeyOwner(call, orgId))?.confirmed
  return isConfirmed ? undefined : notConfirmed(strict, call.caller)
}

/** Checks what the rules demand of the requester and of the request, before anybody is notified. */
const termsUnder = async (
  call: Call,
  orgId: number,
  { rules, input, held }: { rules: readonly Rule[]; input: ApprovalInput; held: Requirement | undefined },
): Promise<Terms> => {
  const unmet = unmetReason(rules, input.reason)
  if (unmet) throw reasonRequired(unmet, input.reason, held)
  const refused = await requesterProblem(call, orgId, rules)
  if (refused) throw refused
  const terms = termsOf(rules, input)
  if (!terms) throw tooLong()
  return terms
}

/**
 * Whom a request asks, by which rules, and on which terms. A call that is held has the lines of its rules alone; any other
 * request also those that its requester named, unless it breaks the glass. Fails with 403, 409 or 422.
 */
export const rulesOfRequest = async (
  call: Call,
  { input, subject, held, via }: Asked,
): Promise<RequestRules> => {
  const named = held ?? (await wantedLines(call, input.approvers ?? [], input.org_id))
  const { orgId } = named
  const book = await bookOf(call, orgId)
  if (held) {
    const rules = book?.rules.map(({ rule }) => rule).filter((rule) => held.holding.includes(rule.name))
    const terms = await termsUnder(call, orgId, { rules: rules ?? [], input, held })
    return { wanted: { orgId, lines: [...held.lines] }, rules: [...held.rules], terms }
  }
  const facts = factsOf(subject)
  const rules = book ? await rulesHolding(call, book, { facts, caller: call.caller, orgId }) : []
  const required = requirementOf(orgId, book ?? { groups: [] }, { holding: rules })
  if (input.break_glass !== undefined) {
    const lines = emergencyLines(call, book, rules, { via, approvers: input.approvers ?? [] })
    const terms = await termsUnder(call, orgId, { rules, input, held })
    const [lifetime_s, use_within_s] = [terms.lifetime_s, terms.use_within_s].map((seconds) =>
      Math.min(seconds, emergencyLifetime),
    ) as [number, number]
    return {
      wanted: { orgId, lines },
      rules: [...required.rules],
      terms: { ...terms, lifetime_s, use_within_s },
      skipped: required.lines,
    }
  }
  const lines = [...named.lines, ...required.lines]
  if (lines.length === 0) throw approverRequired()
  const terms = await termsUnder(call, orgId, { rules, input, held })
  return { wanted: { orgId, lines }, rules: [...required.rules], terms, grant: grantTermsOf(rules, subject) }
}

/** Throws 409 unless every rule that holds the request now held it as it is when people signed. */
export const requireSameRules = async (
  call: Pick<Call, 'db' | 'keyring' | 'preconditions' | 'caller'>,
  row: ApprovalRow,
): Promise<void> => {
  const book: Book | undefined = await bookOf(call, row.org_id)
  const subject = storedSubject(row)
  if (!book || !subject || row.by_rule === 1) return
  const signed = readRules(row)
  const rules = await rulesHolding(call, book, {
    facts: factsOf(subject),
    caller: call.caller,
    orgId: row.org_id,
  })
  const changed = rules.find(
    (rule) => !signed.some(({ name, digest }) => name === rule.name && digest === ruleDigest(rule)),
  )
  if (!changed) return
  throw conflict(
    'rules_changed',
    `The rule ${changed.name} was added or changed since this was approved, so the approval cannot be used`,
    askAgain,
  )
}
