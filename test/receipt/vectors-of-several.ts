import { sha256 } from '../../src/core/ids.ts'
import type { Receipt } from '../../src/receipt/claims.ts'
import { receiptType } from '../../src/receipt/claims.ts'
import type { ApprovalContext } from '../../src/receipt/context.ts'
import { type CompletionClaims, completionType, type ReceiptSet } from '../../src/receipt/set.ts'
import {
  ada,
  answerOf,
  completedAt,
  genuineSet,
  grace,
  joan,
  katherine,
  ofOrigin,
  type Person,
  question,
  setOf,
} from './set-specimen.ts'
import { device } from './specimen.ts'
import { accepted, bare, rejected, signed, type Signers, type Vectors } from './vector.ts'

const [group, named] = question.lines as [(typeof question.lines)[0], (typeof question.lines)[0]]

/** Vectors of the receipts of several people. */
export const ofSeveral = async ({ issuer, second, stranger }: Signers): Promise<Vectors> => {
  const set = await genuineSet(issuer)
  const [first, middle, last] = set.receipts as [Receipt, Receipt, Receipt]
  /** The completion of a dishonest service. */
  const completing = async (changes: object, receipts = set.receipts): Promise<ReceiptSet> => ({
    format: 'set',
    receipts,
    completion: await signed({ ...set.completion.claims, ...changes }, completionType, issuer),
  })

  /** A set of these receipts, by a service that checks nothing. */
  const unchecked = (receipts: Receipt[], changes: object = {}): Promise<ReceiptSet> => {
    const ballots = receipts.map(({ jws, claims }) => ({
      user_id: claims.approver.user_id,
      receipt: sha256(jws),
    }))
    return completing({ ballots, ...changes }, receipts)
  }

  const everybody = (people: Person[], changes: Partial<ApprovalContext> = {}): Promise<Receipt[]> =>
    Promise.all(people.map((one) => answerOf(issuer, one, changes)))

  const wrongly = (title: string, changes: Partial<Record<keyof CompletionClaims, unknown>>) => async () =>
    rejected(title, await completing(changes))

  return {
    'set-two-lines': async () => accepted('Two of a group because of a rule, and one who was named', set),
    'set-of-one': async () => {
      const lines = [{ ...group, need: 1 }]
      return accepted(
        'One of a group that is asked',
        await setOf(issuer, await everybody([grace], { lines })),
      )
    },
    // Long ago, because docs/approve.md verifies it with the clock of the machine.
    'set-of-two': async () => {
      const times = {
        requested_at: '2025-01-31T12:00:00.000Z',
        request_expires_at: '2025-01-31T12:02:00.000Z',
      }
      const question = { ...times, lines: [{ ...group, people: ['9', '12', '30'] }] }
      const at = (second: number) => new Date(Date.parse(times.requested_at) + second * 1000)
      const receipts = await Promise.all(
        [joan, katherine].map((one, i) => {
          const bound = { ...device, bound_at: '2024-01-01T09:00:00.000Z' }
          return answerOf(issuer, one, question, { decidedAt: at(20 + 9 * i), device: bound })
        }),
      )
      return accepted('Two of a group of three', await setOf(issuer, receipts, { completedAt: at(29) }))
    },
    'set-moved': async () =>
      accepted(
        'Joan can count for either line, and the others decide for which',
        await setOf(issuer, await everybody([joan, ada, grace])),
      ),
    'set-more-than-needed': async () => {
      const receipts = await everybody([ada, grace, joan, katherine])
      return accepted('Four agreed, and three are needed', await setOf(issuer, receipts))
    },
    'set-left-out-but-named': async () => {
      const excluded = [{ user_id: '30', reason: 'owns the requesting key' }]
      return accepted(
        'Somebody who was left out of the group, and named',
        await setOf(issuer, set.receipts, { excluded }),
      )
    },
    'set-two-service-keys': async () =>
      accepted('The service changed its signing key meanwhile', {
        ...set,
        completion: await signed(set.completion.claims, completionType, second),
      }),

    'set-not-completed': async () => ({
      ...rejected('No completion', set),
      attestation: { format: 'set', receipts: set.receipts.map(bare) },
    }),
    'set-not-this-completion': async () =>
      rejected('A receipt instead of the completion', { ...set, completion: first as never }),
    'set-not-of-the-service': async () =>
      rejected('A completion that a stranger signed', {
        ...set,
        completion: await signed(set.completion.claims, completionType, stranger),
      }),
    'set-not-more-claims': wrongly('A completion with a member that is not known', { count: 3 } as never),
    'set-not-all': async () => rejected('A receipt is missing', { ...set, receipts: [first, middle] }),
    'set-not-others': async () => {
      const [other] = await everybody([grace])
      return rejected('A receipt that the completion does not name', {
        ...set,
        receipts: [first, other!, last],
      })
    },
    'set-not-in-order': async () =>
      rejected('The receipts in another order', { ...set, receipts: [middle, first, last] }),
    'set-not-another-request': wrongly('The completion of another request', { jti: 'apr_0' }),
    'set-not-another-issuer': wrongly('The completion of another service', {
      iss: 'https://other.example.com',
    }),
    'set-not-another-subject': wrongly('The completion for another subject', {
      subject: { type: 'text', digest: '0'.repeat(64) },
    }),
    'set-not-fewer-needed': wrongly('The completion says that fewer people are needed', {
      lines: [{ ...group, need: 1 }, named],
    }),
    'set-not-other-rules': wrongly('The completion names no rule', { rules: [] }),
    'set-not-one-question': async () => {
      const later = await answerOf(issuer, grace, { request_expires_at: '2030-01-31T12:03:00.000Z' })
      return rejected('Somebody signed another time', await unchecked([first, later, last]))
    },
    'set-not-a-denial': async () => {
      const denial = await answerOf(issuer, grace, { decision: 'deny' })
      return rejected('Somebody denied', await unchecked([first, denial, last]))
    },
    'set-not-twice': async () => {
      const again = await answerOf(issuer, ada)
      return rejected('One person twice', await unchecked([first, again, last]))
    },
    'set-not-one-number': async () => {
      const approver = { ...grace.approver, mobile: ada.approver.mobile }
      return rejected(
        'Two people with one number',
        await unchecked([first, await answerOf(issuer, grace, { approver }), last]),
      )
    },
    'set-not-one-key': async () => {
      const shared = await answerOf(issuer, { ...grace, key: ada.key })
      return rejected('Two people with one passkey', await unchecked([first, shared, last]))
    },
    'set-not-other-names': async () => {
      const ballots = set.completion.claims.ballots.map(({ receipt }) => ({ receipt, user_id: '12' }))
      return rejected('The completion names other people', await completing({ ballots }))
    },
    'set-not-left-out': wrongly('Somebody counts who was left out of the group', {
      excluded: [{ user_id: '9', reason: 'owns the requesting key' }],
    }),
    'set-not-enough': async () => rejected('Too few agreed', await unchecked([first, last])),
    'set-not-one-for-two-lines': async () => {
      const receipts = await everybody([ada, joan])
      return rejected(
        'Two people for three places',
        await unchecked(receipts, { assignment: [['5', '12'], ['12']] }),
      )
    },
    'set-not-own-phone': async () => {
      const own = await answerOf(issuer, grace, {}, ofOrigin('unknown'))
      return rejected(
        'A phone of unknown origin does not count for the group',
        await unchecked([first, own, last]),
        {
          allowUnseparated: true,
        },
      )
    },
    'set-not-assigned': wrongly('The completion gives a line to somebody who is not in it', {
      assignment: [['5', '30'], ['9']],
    }),
    'set-not-assigned-enough': wrongly('The completion gives a line too few people', {
      assignment: [['5'], ['30']],
    }),
    'set-not-in-time': async () => {
      const decidedAt = new Date('2030-01-31T12:03:00.000Z')
      const late = await answerOf(issuer, grace, {}, { decidedAt })
      const iat = Math.floor(decidedAt.getTime() / 1000)
      return rejected(
        'Somebody agreed after the request had expired',
        await unchecked([first, late, last], { iat }),
      )
    },
    'set-not-before-the-last': wrongly('Completed before the last of them agreed', {
      iat: Math.floor(completedAt.getTime() / 1000) - 10,
    }),
    'set-not-after-the-end': wrongly('Completed after the request had expired', {
      iat: Math.floor(completedAt.getTime() / 1000) + 120,
    }),
    'set-not-one-that-is-forged': async () => {
      const { evidence } = (await answerOf(issuer, { ...grace, key: katherine.key })).claims
      const forged = await signed({ ...middle.claims, evidence }, receiptType, issuer)
      return rejected('One of the people did not sign', await unchecked([first, forged, last]))
    },
  }
}
