import { credentialText } from '../core/credential-text.ts'
import { flagsOf } from './evidence.ts'
import type { Answers } from './answers.ts'
import type { ReceiptClaims, Relation } from './claims.ts'
import type { KeyOwner } from './context.ts'
import type { UseClaims } from './grant-use.ts'
import { summaryOf } from './subject-text.ts'
import type { Subject } from './subject.ts'

/** The name of a requester without a credential. */
export const unauthenticatedProgram = 'unauthenticated local program'

const origins: Record<Relation, string> = {
  self: 'the key that requested the approval',
  creator: 'a key that created the requesting key, or that has the same creator',
  other: 'another key',
  operator: 'the operator',
  unknown: 'not known, so it may be the key that requested the approval',
}

const proofs = {
  link: 'possession of the link',
  otp: 'a code sent to the phone',
  device: 'an earlier device of the approver',
  admin: "an administrator's device",
}

/** A sentence about the device of the approver. */
export const originOf = (relation: Relation): string => `the origin of the device is ${origins[relation]}`

const subjectOf = ({ subject }: Answers): Subject => {
  if (subject) return subject
  throw new TypeError('What was asked is not a valid subject')
}

/** The headline that the approver read, rendered from the subject. Throws if that is not valid. */
export const headlineOf = (answers: Answers): string => summaryOf(subjectOf(answers))

/** Each in a sentence of its own, so that a name cannot imitate the number or the id of another person. */
const ownerFacts = ({ user_id, name, mobile, confirmed, twin }: KeyOwner): string[] => [
  `The key belongs to ${JSON.stringify(name)}, ${confirmed ? 'confirmed on their device' : 'as whoever created it claims'}`,
  `The owner of the key is user ${user_id}, mobile ${mobile}`,
  ...(twin ? ['Another active member had the same name, or one that looks like it'] : []),
]

/** About one of the people who answered, also each in a sentence of its own. */
const personFacts = ({ approver, sub, device, dev, evidence }: ReceiptClaims): string[] => {
  const { relation, name } = device.enrolled_by
  const origin = name === null ? origins[relation] : `${origins[relation]} (${JSON.stringify(name)})`
  const isVerified = flagsOf(evidence).user_verified
  return [
    ...(dev === true ? ['A software key signed it, which proves nothing about a person'] : []),
    ...(isVerified || dev === true
      ? []
      : ['The denial required only a touch: the device did not verify its user']),
    `The approver is user ${approver.user_id}, mobile ${sub}`,
    `The name of the approver is ${JSON.stringify(approver.name)}`,
    ...(approver.twin
      ? ['Another active member had the same name as the approver, or one that looks like it']
      : []),
    `The origin of the device is ${origin}; it was proved by ${proofs[device.proof]}, active since ${device.bound_at}`,
  ]
}

/** What was different in an emergency. */
export const breakGlassText = ({ reason, skipped }: NonNullable<Answers['breakGlass']>): string =>
  `the people whom the rules name were not asked (users ${skipped.join(', ')}), because of ${JSON.stringify(reason)}`

/** That nobody saw this request, and who had granted it. */
export const useText = ({ use, grant }: UseClaims): string =>
  `no person saw this request: it is use ${use} of what was granted with ${grant.request_id}`

/** What was requested beyond the headline: where a command runs and with what, why, and under which rules. Throws as `headlineOf` does. */
export const requestFacts = (answers: Answers): string[] => {
  const { type, data } = subjectOf(answers)
  const { reason, rules } = answers.receipts[0]!
  return [
    ...(type === 'command'
      ? [
          `The command runs in ${data.cwd}`,
          `It runs the program ${data.executable.path}, SHA-256 ${data.executable.sha256}`,
        ]
      : []),
    ...(reason === null ? [] : [`The reason, as the requester gave it, is ${JSON.stringify(reason)}`]),
    ...(rules.length === 0 ? [] : [`The rules that held it: ${rules.map(({ name }) => name).join(', ')}`]),
  ]
}

/** Facts about valid receipts that only the service claims. */
export const factsOf = ({ receipts, completion, breakGlass, use }: Answers): string[] => {
  const { organization, key } = receipts[0]!
  const who = key.id === '0' ? key.name : `${credentialText('key', key.name)} (id ${key.id})`
  return [
    ...(use ? [`Granted earlier: ${useText(use)}`] : []),
    ...(breakGlass ? [`Break-glass: ${breakGlassText(breakGlass)}`] : []),
    ...receipts.flatMap((one, at) =>
      personFacts(one).map((fact) => (completion ? `Receipt ${at + 1}: ${fact}` : fact)),
    ),
    `Requested in the organization ${organization.slug} (id ${organization.id}) by ${who}, with the scopes: ${key.scopes.join(', ') || 'none'}`,
    ...(key.owner === undefined ? [] : ownerFacts(key.owner)),
    receipts.some(({ influences }) => influences)
      ? 'The requesting key could influence who approves'
      : 'The requesting key could not influence who approves',
  ]
}
