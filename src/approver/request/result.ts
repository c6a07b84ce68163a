import type { Outcome } from '../calls/api.ts'
import { button, h, type Drawing } from '../shell/element.ts'
import { announce, showNotice } from '../shell/frame.ts'
import { exactText } from '../shell/text.ts'
import { momentText } from '../shell/time.ts'

type Words = { drawing: Drawing; tone?: 'good' | 'bad'; title: string; lines: (string | Node)[] }

type Refusal = Outcome['refused'][number]

/** The place or slot that was expected, if the organization and the user do not both have rules. */
const placeOf = ({ expected }: Refusal): string | undefined => {
  const levels = Object.values((expected ?? {}) as object).flat() as ({ name?: unknown } | null)[]
  const [one, other] = levels
  return other === undefined && typeof one?.name === 'string' ? one.name : undefined
}

/** Why a rule refused, in words for the approver; the numbers are in the record of the requester. */
const refusalText = (refused: Refusal): string => {
  const { factor, observed } = refused
  const isKnown = Object.values((observed ?? {}) as object).some((one) => one !== null)
  if (factor === 'location' && !isKnown) return 'Your phone’s location was missing or too old.'
  if (factor === 'location')
    return `You were outside ${placeOf(refused) ?? 'the places where you can approve'}.`
  if (factor === 'time') return `It was outside the hours when you can approve${nameIn(placeOf(refused))}.`
  if (factor === 'ip') return 'You were not in a network that your organization allows.'
  if (factor === 'device') return 'This device isn’t trusted by your organization.'
  return refused.reason
}

const nameIn = (name: string | undefined): string => (name === undefined ? '' : ` (${name})`)

const decided = ({ status, device, ended_at }: Outcome, own: string): string => {
  const at = ended_at === null ? '' : ` ${momentText(ended_at)}`
  const on = device === null || device.id === own ? '' : ` on ${device.name}`
  return `You ${status} this${at}${on}.`
}

const wordsFor = (outcome: Outcome, own: string): Words => {
  const { status, ended_by, ended_at, device, note, refused, detail } = outcome
  const here = device === null || device.id === own
  if (ended_by === 'person' && status === 'approved')
    return {
      drawing: 'check',
      tone: 'good',
      title: here ? 'Approved' : 'Approved on another device',
      lines: [decided(outcome, own)],
    }
  if (ended_by === 'person')
    return {
      drawing: 'cross',
      tone: 'bad',
      title: here ? 'Denied' : 'Denied on another device',
      lines: [decided(outcome, own), ...(note === undefined ? [] : [exactText(`Your note: ${note}`)])],
    }
  if (ended_by === 'rules')
    return {
      drawing: 'cross',
      tone: 'bad',
      title: 'Not approved',
      lines: ['The rules of your organization refused it.', ...refused.map(refusalText)],
    }
  if (ended_by === 'number')
    return {
      drawing: 'cross',
      tone: 'bad',
      title: 'Denied',
      lines: ['A wrong number was typed twice, so the service denied the request.'],
    }
  const at = ended_at === null ? '' : ` ${momentText(ended_at)}`
  if (ended_by === 'time')
    return {
      drawing: 'clock',
      title: 'This request has expired',
      lines: [`It ended${at}. Nothing was approved. The requester can ask again.`],
    }
  if (ended_by === 'key')
    return {
      drawing: 'clock',
      title: 'This request has ended',
      lines: ['The requester’s key was revoked or has expired. Nothing was approved.'],
    }
  if (ended_by === 'requester')
    return {
      drawing: 'clock',
      title: 'This request was withdrawn',
      lines: [`The requester withdrew it${at}. Nothing was approved.`],
    }
  return {
    drawing: 'clock',
    title: 'This request has ended',
    lines: [exactText(`Nothing was approved. ${detail ?? ''}`)],
  }
}

/** The service does not know the request, or keeps it from this person. */
export const showMissing = (back: () => void): void =>
  void showNotice({
    drawing: 'clock',
    title: 'No such request here',
    lines: ['It was sent to someone else or to another organization, or it was deleted.'],
    actions: [button('All requests', 'primary', back)],
  })

type Showing = {
  /** Id of this device. */
  own: string
  /** Said below the result. */
  more?: string | undefined
  back: () => void
}

/** How a request ended, as the service recorded it, and the way back. */
export const showOutcome = (outcome: Outcome, { own, more, back }: Showing): void => {
  const { lines, title, ...look } = wordsFor(outcome, own)
  const quote = h('span', { class: 'quote' }, exactText(outcome.headline))
  showNotice({
    ...look,
    title,
    lines: [quote, ...lines, ...(more === undefined ? [] : [more])],
    actions: [button('Done', 'primary', back)],
  })
  announce(title)
}
