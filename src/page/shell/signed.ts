import type { Data, Input } from '../../contract/operation.ts'
import type { Table } from '../../contract/table.ts'
import { call, Refused, type Session } from '../calls/api.ts'
import { assert } from '../calls/webauthn.ts'
import { nodes, t } from '../language/text.ts'
import { showDialog } from './dialog.ts'
import { button, div, h, labelled, textField } from './element.ts'
import { tellWaiting } from './frame.ts'
import { exactNames, exactText, joined } from './text.ts'

const everyMs = 2000

type Demand = { prompt?: string; pattern?: string; example?: string }

/** Asks for the reason that a rule demands, in its own words; undefined if it demands none, or the person gives none. */
const askReason = async ({ data }: Refused, given: string | undefined): Promise<string | undefined> => {
  const demand = data['reason'] as Demand | undefined
  if (!demand) return undefined
  const { prompt: label = t('field.reason'), pattern, example = '' } = demand
  const field = textField('reason', given, { maxlength: 500 })
  let reason = ''
  await showDialog(t('common.reasonTitle'), (close) => [
    labelled(label, field),
    // Its first form is not one: the service asks again.
    pattern !== undefined &&
      h('p', given === undefined ? 'who' : 'warning', t('common.reasonForm', { pattern, example })),
    div(
      'actions',
      button(t('common.continue'), 'primary', () => {
        reason = field.value.trim()
        if (reason === '') field.focus()
        else close()
      }),
      button(t('common.cancel'), 'quiet', close),
    ),
  ])
  return reason || undefined
}

type Line = { need: number; people: { name: string }[] }

/** `Ada and Grace`, or `2 of Ada, Alan, Grace`. */
const lineText = ({ need, people }: Line): Node => {
  const names = people.map(({ name }) => name)
  return need === names.length
    ? joined(
        names.map((name) => exactText(name)),
        'conjunction',
      )
    : nodes('request.lineOf', { need: String(need), people: exactNames(names) })
}

/** Says of a denial who it was, and what they wrote. */
const named = (error: Refused): Refused => {
  const name = error.data['denied_by']
  const note = error.data['note']
  if (typeof name === 'string') error.message = t('request.deniedBy', { name })
  if (typeof note === 'string') error.message += ` ${t('history.note', { note })}`
  return error
}

/** Whoever closes the page would lose the change that waits. */
const stay = (event: Event): void => event.preventDefault()

/** Calls an operation that a rule may hold: then says who is asked, waits, and repeats it with their approval. */
const callHeld: typeof call = async (name, input, options) => {
  let approval: string | undefined
  let reason: string | undefined
  let outcome: string | undefined
  const screen = document.querySelector('.screen')
  try {
    for (;;)
      try {
        const done = await call(name, input, { ...options, approval, reason })
        outcome = t('request.approved')
        return done
      } catch (error) {
        if (!(error instanceof Refused)) throw error
        const why = await askReason(error, reason)
        if (why !== undefined) {
          reason = why
          continue
        }
        if (error.code !== 'approval_required') {
          outcome = named(error).message
          throw error
        }
        const held = error.data['request'] as { request_id: string; lines: Line[] } | undefined
        if (held) {
          approval = held.request_id
          addEventListener('beforeunload', stay)
          tellWaiting(nodes('common.held', { names: joined(held.lines.map(lineText), 'conjunction') }))
        }
        await new Promise((resolve) => setTimeout(resolve, everyMs))
      }
  } finally {
    removeEventListener('beforeunload', stay)
    // Whoever has gone on to another screen reads it there.
    const isGone = approval && outcome !== undefined && !screen?.isConnected
    if (isGone) tellWaiting(h('span', {}, outcome), true)
    else if (approval) tellWaiting()
  }
}

/** The operation that gives the challenge for each of these. */
const challenges = {
  createDeviceLink: 'beginDeviceLink',
  denyRequests: 'beginDenials',
  reportRequest: 'beginReport',
  giveConsent: 'beginConsent',
  moveDevice: 'beginDeviceMove',
  moveMember: 'beginMemberMove',
  signAway: 'beginAway',
  signReview: 'beginReview',
  refuseNewDevice: 'beginDeviceRefusal',
  unmute: 'beginUnmute',
} as const

type Signed = keyof typeof challenges

/** A key of this person, and its organization, if the person is signed in there. */
export type Key = Pick<Session, 'rp_id' | 'credential_id'> & { org_id?: number }

/** Does what the device signs. */
export const signed = async <K extends Signed>(
  name: K,
  { rp_id, credential_id, org_id: org }: Key,
  input: Omit<Input<Table[K]>, 'challenge' | 'response'>,
): Promise<Data<Table[K]>> => {
  const { challenge } = (await call(challenges[name], input as never, { org })) as { challenge: string }
  const response = await assert(rp_id, challenge, credential_id)
  return callHeld(name, { ...input, challenge, response } as unknown as Input<Table[K]>, { org })
}

/** For work that an earlier tap did although its answer was lost, as this refusal says. */
export const unless =
  (code: string | undefined) =>
  (error: unknown): undefined => {
    if (!(error instanceof Refused && error.code === code)) throw error
  }
