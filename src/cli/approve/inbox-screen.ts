import type { ApprovalRecord } from '../../contract/approval.ts'
import { SvcError } from '../../core/errors.ts'
import { safeLine } from '../../core/safe-text.ts'
import { summaryOf } from '../../receipt/subject-text.ts'
import { sleepFor } from '../../core/sleep.ts'
import { credentialText } from '../../core/credential-text.ts'
import type { Context } from '../context/context.ts'
import type { Prompt } from '../terminal/prompt.ts'
import {
  type SoftwareDevice,
  type Ceremony,
  type Decision,
  isDegrees,
  noteProblem,
  type ReportedLocation,
  placeAt,
} from './software-device.ts'
import { headlineOf } from './request-cells.ts'
import { clockOrDay, offerText, requestText } from './request-text.ts'

const refreshMs = 1000
const leave = 'leave'
const idsOf = (records: readonly ApprovalRecord[]): string =>
  records.map(({ request_id }) => request_id).join(' ')

type Stale = (pending: readonly ApprovalRecord[]) => boolean

/** Resolves when the list on the screen is out of date; ignores an outage. */
const untilStale = async (device: SoftwareDevice, stale: Stale, signal: AbortSignal): Promise<void> => {
  for (;;) {
    await sleepFor(refreshMs, signal)
    const pending = await device.list().catch(() => undefined)
    if (pending && stale(pending)) return
  }
}

/** Shows the prompt `ask` until it is answered; returns undefined if it becomes stale first. */
const live = async (
  device: SoftwareDevice,
  stale: Stale,
  ask: (changed: AbortSignal) => Promise<string | undefined>,
): Promise<string | undefined> => {
  const changed = new AbortController()
  const answered = new AbortController()
  const looking = untilStale(device, stale, answered.signal).then(
    () => changed.abort(),
    () => undefined,
  )
  try {
    return await ask(changed.signal)
  } finally {
    answered.abort()
    await looking
  }
}

const choicesOf = ({ grant, subject }: Ceremony) => [
  { value: 'back', name: 'Back to the list' },
  { value: 'approve', name: grant ? 'Approve once' : 'Approve' },
  ...(grant ? [{ value: 'grant', name: safeLine(`Approve, and allow ${offerText(subject, grant)}`) }] : []),
  { value: 'deny', name: 'Deny' },
  { value: 'note', name: 'Deny with a note to the requester' },
  { value: 'not_me', name: "This wasn't me: deny, mute the requester and end its other requests" },
]

/** What is allowed besides; nothing without a grant. */
const besides = ({ grant, subject }: Ceremony, isGranted: boolean | undefined, verb: string): string =>
  isGranted && grant ? safeLine(`, and ${verb} ${offerText(subject, grant)}`) : ''

const askNote = (prompt: Prompt): Promise<string> =>
  prompt.text('Note to the requester', { validate: (text) => noteProblem(text.trim()) ?? true })

const askNumber = (prompt: Prompt): Promise<string> =>
  prompt.text('Number that the requester sees', {
    validate: (text) => /^\d{2}$/.test(text.trim()) || 'must be two digits',
  })

const askDegrees = async (prompt: Prompt, name: string, most: number): Promise<number> => {
  const validate = (text: string): true | string =>
    isDegrees(text, most) || `must be between -${most} and ${most}`
  return Number(await prompt.text(`${name} of your location, in degrees`, { validate }))
}

/** The location from the flags; prompts for it if a rule requires one and the flags are missing. */
const placeFor = async (
  { locationRequired }: Ceremony,
  typedPlace: ReportedLocation | undefined,
  prompt: Prompt,
): Promise<ReportedLocation | undefined> =>
  typedPlace !== undefined || !locationRequired
    ? typedPlace
    : placeAt(await askDegrees(prompt, 'Latitude', 90), await askDegrees(prompt, 'Longitude', 180))

const decisionFor = async (
  picked: string,
  ceremony: Ceremony,
  prompt: Prompt,
  typedPlace: ReportedLocation | undefined,
): Promise<Decision | undefined> => {
  if (picked === 'deny') return { decision: 'deny' }
  if (picked === 'note') return { decision: 'deny', note: (await askNote(prompt)).trim() }
  if (picked === 'not_me') return { decision: 'deny', not_me: true }
  const number = ceremony.numberRequired ? (await askNumber(prompt)).trim() : undefined
  const location = await placeFor(ceremony, typedPlace, prompt)
  // Takes the place of the fingerprint on a phone.
  const isGranted = picked === 'grant'
  const what = `${safeLine(summaryOf(ceremony.subject))}${besides(ceremony, isGranted, 'allow')}`
  if (!(await prompt.confirm(`Sign the approval of: ${what}?`))) return undefined
  return {
    decision: 'approve',
    ...(isGranted && { grant: true as const }),
    ...(number === undefined ? {} : { number }),
    ...(location && { location }),
  }
}

/** The approver and their claimed location. */
type At = { device: SoftwareDevice; place?: ReportedLocation | undefined }

const openRequest = async (
  { device, place }: At,
  id: string,
  prompt: Prompt,
  context: Context,
): Promise<void> => {
  const { stderr } = context.io
  try {
    const ceremony = await device.open(id)
    stderr.write(requestText(ceremony, context.io.now().getTime(), stderr))
    const over: Stale = (pending) => pending.every(({ request_id }) => request_id !== id)
    const picked = await live(device, over, (changed) =>
      prompt.selectUntil('Your decision', choicesOf(ceremony), changed),
    )
    // Somebody else decided, or the request expired: the error of the service says which.
    if (picked === undefined) return void (await device.open(id))
    if (picked === 'back') return
    const decision = await decisionFor(picked, ceremony, prompt, place)
    if (!decision) return void stderr.write('Nothing was signed.\n\n')
    const { status, detail } = await ceremony.decide(decision)
    const word = decision.decision === 'approve' ? 'approval' : 'denial'
    const counted = status === 'pending' ? `Your ${word} counts. ` : ''
    const more = besides(ceremony, status === 'approved' && decision.grant, 'allowed')
    const why = detail ? `: ${safeLine(detail)}` : ''
    stderr.write(`${counted}The request is ${safeLine(status)}${more}${why}.\n\n`)
  } catch (error) {
    if (error instanceof SvcError && error.code === 'escaped') return
    // Somebody else decided first, the number was wrong, or the request expired: back to the list.
    if (!(error instanceof SvcError) || error.exit === 'interrupted') throw error
    const more = [error.detail, error.hint].flatMap((text) => (text ? [` (${safeLine(text)})`] : []))
    stderr.write(`${safeLine(error.message)}${more.join('')}\n\n`)
  }
}

/** Foreign text in quotes that nothing in it ends, cut to `most` characters. */
const quotedStart = (text: string, most: number): string =>
  safeLine(JSON.stringify(text.length > most ? `${text.slice(0, most)}…` : text))

/** `key "ci"; calls itself "Claude Code" (not verified)`: what the service verified comes first, as on the page. */
const requesterOf = ({ requester, verified_as }: ApprovalRecord): string => {
  const claimed = `calls itself ${quotedStart(requester, 30)} (not verified)`
  if (typeof verified_as !== 'string') return claimed
  const verified = safeLine(verified_as)
  return [requester, credentialText('key', requester)].includes(verified_as)
    ? verified
    : `${verified}; ${claimed}`
}

const rowOf = (one: ApprovalRecord, now: number): string =>
  `${quotedStart(headlineOf(one), 60)} (${requesterOf(one)}, until ${clockOrDay(one.expires_at, now)})`

/** The live list: new and finished requests show within a second. */
export const runInbox = async ({ device, place }: At, prompt: Prompt, context: Context): Promise<void> => {
  for (;;) {
    const pending = await device.list()
    if (pending.length === 0) await device.requireMember()
    const shown = idsOf(pending)
    const rows = pending.map((one) => ({
      value: one.request_id,
      name: rowOf(one, context.io.now().getTime()),
    }))
    const changes: Stale = (now) => idsOf(now) !== shown
    const picked = await live(device, changes, (changed) =>
      prompt.selectUntil(
        pending.length === 0 ? 'No pending requests; waiting for new ones' : `Pending: ${pending.length}`,
        [...rows, { value: leave, name: 'Leave' }],
        changed,
      ),
    )
    if (picked === leave) return
    if (picked !== undefined) await openRequest({ device, place }, picked, prompt, context)
  }
}
